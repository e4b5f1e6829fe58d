/* The C interface from C: everything that needs no GPU, and a product if there is one to compute
 * it. Ends with 0 if all is well, else prints each check that failed. */
#include <stdio.h>
#include <string.h>

#include "trine/c/gemm.h"

static int failures = 0;

#define EXPECT(condition)                                              \
  do {                                                                 \
    if (!(condition)) {                                                \
      printf("%s:%d: %s is not so\n", __FILE__, __LINE__, #condition); \
      printf("  last error: %s\n", trine_gemm_last_error());           \
      ++failures;                                                      \
    }                                                                  \
  } while (0)

/* Each call with a null where none may be is refused, and the message names the argument. */
#define EXPECT_REFUSED(call, name)                         \
  do {                                                     \
    EXPECT((call) == TRINE_ERROR_USAGE);                   \
    EXPECT(strstr(trine_gemm_last_error(), name) != NULL); \
  } while (0)

static void methods_have_names(void) {
  const int count = trine_gemm_method_count();
  int method, fp32_class = 0;
  EXPECT(count >= 9);
  for (method = 0; method < count; ++method) {
    const char* name = trine_gemm_method_name(method);
    EXPECT(name != NULL && strlen(name) >= 4 && strlen(name) < 16);
    EXPECT(trine_gemm_method_from_name(name) == method);
    EXPECT(strlen(trine_gemm_method_meaning(method)) > 10);
    fp32_class += trine_gemm_method_is_fp32_class(method);
  }
  EXPECT(fp32_class == 5);
  EXPECT(trine_gemm_method_from_name("fp16x3") > 0);
  EXPECT(trine_gemm_method_is_fp32_class(trine_gemm_method_from_name("fp16x3")) == 1);
  EXPECT(trine_gemm_method_is_fp32_class(trine_gemm_method_from_name("bf16")) == 0);
}

static void unknown_methods_have_none(void) {
  const int count = trine_gemm_method_count();
  EXPECT(trine_gemm_method_name(-1) == NULL);
  EXPECT(trine_gemm_method_name(count) == NULL);
  EXPECT(trine_gemm_method_meaning(count) == NULL);
  EXPECT(trine_gemm_method_is_fp32_class(count) == 0);
  EXPECT(trine_gemm_method_from_name("fp31") == -1);
  EXPECT(trine_gemm_method_from_name("") == -1);
  EXPECT(trine_gemm_method_from_name(NULL) == -1);
}

static void nulls_are_refused(void) {
  int number = 0;
  int64_t row = 0;
  size_t bytes = 0;
  char text[8];
  trine_gemm_pack_args pack = {0};
  trine_gemm_forward_args forward = {0};
  trine_gemm_backward_args backward = {0};
  trine_gemm_weight* weight = (trine_gemm_weight*)&number;
  EXPECT_REFUSED(trine_gemm_context_create(0, NULL, NULL), "context");
  EXPECT_REFUSED(trine_gemm_capability(NULL, &number), "context");
  EXPECT_REFUSED(trine_gemm_device_name(NULL, text, sizeof text), "context");
  EXPECT_REFUSED(trine_gemm_supports(NULL, 0, 1, 1, 1, &number, text, sizeof text), "context");
  EXPECT_REFUSED(trine_gemm_choose(NULL, 1, 1, 1, &number), "context");
  EXPECT_REFUSED(trine_gemm_pack(NULL, &pack, &weight), "context");
  EXPECT(weight == NULL);
  EXPECT_REFUSED(trine_gemm_pack(NULL, &pack, NULL), "weight");
  EXPECT_REFUSED(trine_gemm_weight_bytes(NULL, &bytes), "weight");
  EXPECT_REFUSED(trine_gemm_workspace_bytes(NULL, NULL, 1, &bytes), "context");
  EXPECT_REFUSED(trine_gemm_forward(NULL, NULL, &forward), "context");
  EXPECT_REFUSED(trine_gemm_backward(NULL, NULL, &backward), "context");
  EXPECT_REFUSED(trine_gemm_first_bad_row(NULL, &row), "context");
  trine_gemm_context_destroy(NULL);
  trine_gemm_weight_destroy(NULL);
}

/* What only a context can be asked. */
static void bad_arguments_are_refused(trine_gemm_context* context) {
  const float w[4] = {1, 2, 3, 4};
  int supported = -1;
  char reason[256] = "untouched", cut[5] = "....";
  trine_gemm_weight* weight = NULL;
  trine_gemm_pack_args args = {0};
  args.method = trine_gemm_method_from_name("fp16x3");
  args.w = w;
  args.ldw = args.n = args.k = 2;
  EXPECT_REFUSED(trine_gemm_pack(context, &args, &weight), "struct_size");
  args.struct_size = sizeof args;
  args.activation = 3;
  EXPECT_REFUSED(trine_gemm_pack(context, &args, &weight), "activation");
  args.activation = TRINE_GEMM_NONE;
  args.method = 99;
  EXPECT_REFUSED(trine_gemm_pack(context, &args, &weight), "method");
  EXPECT_REFUSED(trine_gemm_pack(context, NULL, &weight), "args");
  EXPECT(weight == NULL);
  EXPECT(trine_gemm_supports(context, 0, -1, 1, 1, &supported, reason, sizeof reason) == TRINE_OK);
  EXPECT(supported == 0 && strcmp(reason, "untouched") != 0);
  EXPECT(trine_gemm_supports(context, 0, 1, 1, 1, &supported, NULL, 0) == TRINE_OK);
  EXPECT(supported == 1);
  EXPECT(trine_gemm_device_name(context, cut, sizeof cut) == TRINE_OK && strlen(cut) == 4);
}

/* No device memory in plain C: what can be seen of a weight, and a product of no rows. */
static void a_weight_is_packed(trine_gemm_context* context) {
  const float w[6] = {1, 2, 3, 4, 5, 6};
  int method = -1;
  size_t bytes = 0;
  int64_t row = 0;
  trine_gemm_weight* weight = NULL;
  trine_gemm_pack_args args = {0};
  trine_gemm_forward_args forward = {0};
  trine_gemm_backward_args backward = {0};
  args.struct_size = sizeof args;
  forward.struct_size = sizeof forward;
  backward.struct_size = sizeof backward;
  EXPECT(trine_gemm_choose(context, 100, 2, 3, &method) == TRINE_OK);
  args.method = method;
  args.w = w;
  args.n = 2;
  args.ldw = args.k = 3;
  EXPECT(trine_gemm_pack(context, &args, &weight) == TRINE_OK && weight != NULL);
  EXPECT(trine_gemm_weight_bytes(weight, &bytes) == TRINE_OK && bytes > 0);
  EXPECT(trine_gemm_workspace_bytes(context, weight, 0, &bytes) == TRINE_OK);
  forward.ldx = backward.ldx = 3;
  forward.ldy = backward.ldy = 2;
  EXPECT(trine_gemm_forward(context, weight, &forward) == TRINE_OK);
  EXPECT(trine_gemm_backward(context, weight, &backward) == TRINE_OK);
  forward.m = 1;
  EXPECT(trine_gemm_forward(context, weight, &forward) == TRINE_ERROR_USAGE);
  EXPECT(trine_gemm_first_bad_row(context, &row) == TRINE_OK && row == -1);
  trine_gemm_weight_destroy(weight);
}

int main(void) {
  trine_gemm_context* context = (trine_gemm_context*)&failures;
  int status;
  EXPECT(strcmp(trine_gemm_last_error(), "") == 0);
  methods_have_names();
  unknown_methods_have_none();
  nulls_are_refused();
  status = trine_gemm_context_create(0, NULL, &context);
  if (status == TRINE_OK) {
    EXPECT(context != NULL);
    bad_arguments_are_refused(context);
    a_weight_is_packed(context);
    trine_gemm_context_destroy(context);
  } else {
    EXPECT(status == TRINE_ERROR_NOT_SUPPORTED);
    EXPECT(context == NULL);
    EXPECT(strlen(trine_gemm_last_error()) > 20);
    printf("no context here: %s\n", trine_gemm_last_error());
  }
  printf(failures ? "%d checks failed\n" : "all is well\n", failures);
  return failures != 0;
}
