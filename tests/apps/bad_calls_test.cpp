// Bad calls and bad input: exit status, message, and nothing on standard output.
#include "apps/program.hpp"

namespace trine::test {
namespace {

struct BadCall {
  const char* arguments;
  int status;
  const char* message;  ///< part of what must be printed
};

const BadCall kBadCalls[] = {
    // The call itself.
    {"", 2, "no command given"},
    {"prdict", 2,
     "unknown command 'prdict' (commands are help, info, predict, md, relax, validate, bench "
     "step, bench gemm, devices; did you mean predict?), see 'trine help'"},
    {"bench", 2, "unknown command 'bench'"},
    {"bench gem", 2, "did you mean bench gemm?"},
    {"bench gemm --models s33", 2,
     "unknown model 's33' (known are all, xs, s, s32, m, l; did you mean s32?)"},
    {"bench gemm --methods fp16x4", 2, "did you mean fp16x3?"},
    {"bench gemm --list 12x0x3", 2, "'12x0x3' is no product"},
    {"bench gemm --list 12x3", 2, "'12x3' is no product"},
    {"bench gemm --list 12x3x4x5", 2, "'12x3x4x5' is no product"},
    {"bench gemm --direction sideways", 2, "--direction"},
    {"bench gemm --device cpu", 2, "no device 'cpu' for this benchmark"},
    {"bench gemm --json a --svg a", 2, "both write to a"},
    {"bench gemm --seconds 0", 2, "--seconds"},
    {"help nothing", 2, "unknown command 'nothing'"},
    {"--verbose", 2, "unknown command '--verbose'"},
    {"info", 2, "MODEL is required"},
    {"info models/trine-mini.ckpt more", 2, "unexpected argument 'more'"},
    {"info --jsn models/trine-mini.ckpt", 2,
     "unknown option --jsn (of 'trine info'; did you mean --json?)"},
    {"predict", 2, "is required"},
    {"predict models/trine-mini.ckpt", 2, "STRUCTURES is required"},
    {"predict models/trine-mini.ckpt h2o.xyz --uncertanty", 2, "did you mean --uncertainty?"},
    {"predict models/trine-mini.ckpt h2o.xyz --precison=fp32", 2, "did you mean --precision?"},
    {"predict --precison fp32", 2, "did you mean --precision?"},
    {"predict models/trine-mini.ckpt h2o.xyz -x", 2, "unknown option -x"},
    {"predict models/trine-mini.ckpt h2o.xyz --json", 2, "--json"},
    {"predict models/trine-mini.ckpt h2o.xyz --precision fp31", 2, "unknown precision 'fp31'"},
    {"predict models/trine-mini.ckpt h2o.xyz --precision fp31", 2, "did you mean fp32?"},
    {"predict models/trine-mini.ckpt h2o.xyz --precision @", 2, "names no file"},
    {"predict models/trine-mini.ckpt h2o.xyz --device gpu", 2, "unknown device 'gpu'"},
    {"predict models/trine-mini.ckpt h2o.xyz --device cuda:x", 2, "unknown device 'cuda:x'"},
    {"predict models/trine-mini.ckpt h2o.xyz --forces none", 2, "--forces"},
    {"predict models/trine-mini.ckpt h2o.xyz --stress virial", 2, "--stress"},
    {"predict models/trine-mini.ckpt h2o.xyz --threads 0", 2, "--threads"},
    {"predict models/trine-mini.ckpt h2o.xyz --threads two", 2, "--threads"},
    {"predict models/trine-mini.ckpt h2o.xyz -o - --json -", 2, "both write to standard output"},
    {"predict models/trine-mini.ckpt h2o.xyz -o a --json a", 2, "both write to a"},
    {"predict models/trine-mini.ckpt h2o.xyz -o out.xyz.gz", 2, "output is not compressed"},
    {"predict models/trine-mini.ckpt - -", 2, "standard input given twice"},
    {"predict synthetic:xxl h2o.xyz", 2, "synthetic:xs"},
    {"bench step models/trine-mini.ckpt h2o.xyz --repeats 0", 2, "--repeats"},
    {"bench step models/trine-mini.ckpt h2o.xyz --baseline best", 2, "--baseline"},
    {"bench step models/trine-mini.ckpt h2o.xyz h2o.xyz", 2, "unexpected argument 'h2o.xyz'"},
    {"devices cpu", 2, "unexpected argument 'cpu'"},
    // Files and structures.
    {"info absent.ckpt", 3, "no model 'absent.ckpt'"},
    {"info trine-min", 3, "known are trine-mini)"},
    {"info models", 3, "folder"},
    {"info page.ckpt", 3, "page.ckpt: not a checkpoint"},
    {"info short.ckpt", 3, "short.ckpt"},
    {"predict models/trine-mini.ckpt absent.xyz", 3, "absent.xyz: cannot be opened"},
    {"predict models/trine-mini.ckpt models", 3, "directory"},
    {"predict models/trine-mini.ckpt nothing.xyz", 3, "nothing.xyz: no structure in it"},
    {"predict models/trine-mini.ckpt unknown.xyz", 3,
     "unknown.xyz, frame 2: atom 2 is Xe, which models/trine-mini.ckpt "
     "does not know (it knows H C O Cr Mn Fe Co Ni Pt)"},
    {"predict models/trine-mini.ckpt nan.xyz", 3, "nan.xyz:4:7"},
    {"predict models/trine-mini.ckpt singular.xyz", 3,
     "singular.xyz:2:10: the cell cannot be used"},
    {"predict models/trine-mini.ckpt few.xyz", 3, "few.xyz"},
    {"predict models/trine-mini.ckpt h2o.xyz absent.xyz -o out.xyz", 3, "absent.xyz"},
    {"predict models/trine-mini.ckpt h2o.xyz -o absent/out.xyz", 3,
     "cannot write absent/out.xyz (No such file"},
    {"predict models/trine-mini.ckpt h2o.xyz --json /dev/full", 3,
     "cannot write /dev/full (No space left"},
    {"predict models/trine-mini.ckpt h2o.xyz --precision @absent.json", 3,
     "absent.json: cannot be opened"},
    {"predict models/trine-mini.ckpt h2o.xyz --precision @cut.json", 3, "cut.json:2: not JSON"},
    {"predict models/trine-mini.ckpt h2o.xyz --precision @method.json", 3,
     "method.json: '*.qkv' is \"fp16x4\" (no method of products), use one of fp32, "},
    {"bench step models/trine-mini.ckpt h2o.xyz --precision @site.json", 3,
     "site.json: the model has no linear layer 'gnn.0.qkv' (near are gnn.0.transformer.0.qkv, "},
    {"predict models/trine-mini.ckpt h2o.xyz --energy pbe", 3, "no energy named 'pbe'"},
    {"predict ref/models/two_energies.ckpt h2o.xyz --energy pbee", 3, "energy/pbe"},
    {"bench step models/trine-mini.ckpt empty.xyz", 3, "empty.xyz holds no atoms"},
    // Legal, but not here.
    {"info ref/models/long_range.ckpt", 7, "long-range"},
    {"predict ref/models/long_range.ckpt h2o.xyz", 7, "long-range"},
    {"predict models/trine-mini.ckpt h2o.xyz --device cuda", 7, "no device cuda ("},
    {"predict models/trine-mini.ckpt h2o.xyz --device cuda:1", 7, "no device cuda:1"},
    {"predict ref/models/solver.ckpt h2o.xyz --forces direct", 7,
     "the model has no direct force head"},
    {"predict models/trine-mini.ckpt h2o.xyz --stress direct", 7,
     "the model has no direct stress head"},
    {"predict ref/models/solver.ckpt h2o.xyz --uncertainty", 7,
     "the model has no uncertainty for energy"},
};

class BadCalls : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const std::string hydrogen = "2\nProperties=species:S:1:pos:R:3\nH 0 0 0\nH 0 0 ";
    const std::string water = read_file(folder_ / "ref/structures/h2o.xyz");
    write("h2o.xyz", water);
    write("unknown.xyz", water + "2\nProperties=species:S:1:pos:R:3\nH 0 0 0\nXe 0 0 2\n");
    write("nan.xyz", hydrogen + "nan\n");
    write("few.xyz", "3\nProperties=species:S:1:pos:R:3\nH 0 0 0\n");
    write("singular.xyz",
          "1\nLattice=\"3 0 0 6 0 0 0 0 3\" Properties=species:S:1:pos:R:3\nH 0 0 0\n");
    write("empty.xyz", "0\nProperties=species:S:1:pos:R:3\n");
    write("nothing.xyz", "");
    write("page.ckpt", "<!DOCTYPE html><html><body>Not found</body></html>\n");
    write("cut.json", "{\"default\": \"fp32\",\n");
    write("method.json", R"({"default": "fp32", "sites": {"*.qkv": "fp16x4"}})");
    write("site.json", R"({"default": "fp32", "sites": {"gnn.0.qkv": "fp32"}})");
    write("short.ckpt", read_file(folder_ / "models/trine-mini.ckpt").substr(0, 100000));
  }
};

TEST_F(BadCalls, EachHasItsStatusAndMessage) {
  for (const auto& call : kBadCalls) {
    SCOPED_TRACE(std::string("trine ") + call.arguments);
    const Outcome run = trine(call.arguments, "</dev/null");
    EXPECT_EQ(run.status, call.status);
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(call.message), std::string::npos) << run.err;
    const auto error = run.err.find("trine: ");
    ASSERT_NE(error, std::string::npos) << run.err;
    EXPECT_EQ(run.err.find('\n', error), run.err.size() - 1) << "one paragraph: " << run.err;
  }
}

TEST_F(BadCalls, LeaveNoOutputFile) {
  EXPECT_EQ(
      trine("predict models/trine-mini.ckpt h2o.xyz unknown.xyz -o out.xyz --json out.json").status,
      3);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("out.")) << entry.path();
  }
}

TEST_F(BadCalls, OutOfMemoryHasItsStatus) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer itself needs more address space than the limit";
#endif
  const Outcome run = trine("predict synthetic:l h2o.xyz", "ulimit -v 900000 &&");
  EXPECT_EQ(run.status, 5);
  EXPECT_TRUE(run.err.starts_with("trine: out of memory")) << run.err;
}

TEST_F(BadCalls, FullDiskIsAnErrorForTablesToo) {
  const Outcome run = trine("devices >/dev/full 2>.err #");
  EXPECT_EQ(run.status, 3);
}

}  // namespace
}  // namespace trine::test
