#include "base/memory.hpp"

#include <unistd.h>

#include <fstream>
#include <string>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace trine {

std::int64_t available_memory() {
  std::ifstream info("/proc/meminfo");
  for (std::string key, unit; info >> key;) {
    std::int64_t kibibytes = 0;
    if (!(info >> kibibytes)) break;
    if (key == "MemAvailable:") return kibibytes * 1024;
    std::getline(info, unit);
  }
  const long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? std::int64_t{pages} * page : 0;
}

void release_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace trine
