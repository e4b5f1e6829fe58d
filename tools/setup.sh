# Makes sure that the packages which trine needs are installed. Sourced by test.sh and demo.sh:
#   require_packages program         to build the program
#   require_packages program tests   to build and run the tests as well
# As root it installs what is missing; otherwise it prints the line to run, and exits with status 1.

program_packages='cmake ninja-build g++ pkg-config libfmt-dev nlohmann-json3-dev libcli11-dev libzip-dev
  zlib1g-dev libhdf5-dev libssl-dev libdnnl-dev ocl-icd-opencl-dev libopenblas-dev'
tests_packages='libgtest-dev python3 python3-h5py python3-dev python3-venv binutils'
# A browser looks at report.html. Ubuntu has it as a snap alone, without which that test is skipped.
if [ -r /etc/os-release ] && [ "$(. /etc/os-release && echo "$ID")" = debian ]; then
  tests_packages="$tests_packages chromium"
fi

# Those of the packages named that are not installed.
missing_packages() {
  for package in "$@"; do
    case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
      *'ok installed') ;;
      *) printf ' %s' "$package" ;;
    esac
  done
}

require_packages() {
  wanted=
  for group in "$@"; do
    case $group in
      program) wanted="$wanted $program_packages" ;;
      tests) wanted="$wanted $tests_packages" ;;
    esac
  done
  if ! command -v dpkg-query >/dev/null; then
    echo "This is no Debian or Ubuntu: please see to it that these are installed (Debian's names):" $wanted >&2
    return 0
  fi
  # shellcheck disable=SC2086 # a list of words
  missing=$(missing_packages $wanted)
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "Packages are missing. Please run this line, then start again:" >&2
    echo "sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
  fi
  echo "Installing$missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
