/* Matrix products with FP32 accuracy on Tensor Cores, for C and everything that calls C.
 *
 * The same as trine/gemm.hpp, where each method and argument is described: y = x w^T and its input
 * gradient dx = dy w. Matrices are row-major; a leading dimension (ld) counts elements from one row
 * to the next; "device" pointers are memory of the context's GPU. Calls of the products are
 * asynchronous on the context's stream, allocate nothing and can be captured in a CUDA graph.
 *
 * Functions that can fail return a status: 0, or what went wrong; `trine_gemm_last_error` then says
 * it in words. No function ends the program or prints. A context serves one thread at a time.
 */
#ifndef TRINE_C_GEMM_H
#define TRINE_C_GEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Statuses, the same numbers as the exit statuses of the program `trine`. */
enum {
  TRINE_OK = 0,
  TRINE_ERROR_INTERNAL = 1,          /* a fault of trine, or of the device */
  TRINE_ERROR_USAGE = 2,             /* the call itself is wrong */
  TRINE_ERROR_BAD_INPUT = 3,         /* numbers that cannot be used, such as a weight of NaN */
  TRINE_ERROR_NOT_CONVERGED = 4,     /* never by the products */
  TRINE_ERROR_OUT_OF_MEMORY = 5,     /* on the device or on the host */
  TRINE_ERROR_VALIDATION_FAILED = 6, /* never by the products */
  TRINE_ERROR_NOT_SUPPORTED = 7      /* a legal request that this build or device cannot serve */
};

/* Of this thread's last call that failed, "" before the first. Valid until the next one. */
const char* trine_gemm_last_error(void);

/* --- Methods, numbered from 0: "fp32", "fp16x3", ... ---------------------------------------------
 */

int trine_gemm_method_count(void);
/* The number of a name, -1 if there is none such (or null). Numbers may differ between versions. */
int trine_gemm_method_from_name(const char* name);
/* Null if there is no such number; so are the next two. */
const char* trine_gemm_method_name(int method);
const char* trine_gemm_method_meaning(int method); /* one line for people */
/* 1 if errors are no larger than those of a plain FP32 product, else 0. */
int trine_gemm_method_is_fp32_class(int method);

/* --- Contexts
 * -------------------------------------------------------------------------------------- */

typedef struct trine_gemm_context trine_gemm_context;

/* A device by number and a cudaStream_t on it, null for the default one. *context is null on
 * failure. */
int trine_gemm_context_create(int device, void* stream, trine_gemm_context** context);
/* Null is allowed. Waits for nothing: let the stream finish first. */
void trine_gemm_context_destroy(trine_gemm_context* context);
/* Compute capability, e.g. 90. */
int trine_gemm_capability(const trine_gemm_context* context, int* capability);
/* Writes the name, cut to `size` bytes with its final 0. */
int trine_gemm_device_name(const trine_gemm_context* context, char* name, size_t size);
/* Sets *supported to 1 or 0 and writes why (not), cut to `size` bytes; `reason` may be null. */
int trine_gemm_supports(const trine_gemm_context* context, int method, int64_t m, int64_t n,
                        int64_t k, int* supported, char* reason, size_t size);
/* The fastest method of FP32 accuracy for x (m, k) and w (n, k). */
int trine_gemm_choose(const trine_gemm_context* context, int64_t m, int64_t n, int64_t k,
                      int* method);

/* --- Weights
 * --------------------------------------------------------------------------------------- */

typedef struct trine_gemm_weight trine_gemm_weight;

enum {
  TRINE_GEMM_NONE = 0,
  TRINE_GEMM_SILU = 1,  /* y = z sigmoid(z) */
  TRINE_GEMM_SWIGLU = 2 /* z = [v | g]: y = v sigmoid(g), half as wide as z */
};

/* In every struct of arguments set struct_size to its sizeof and what is not used to 0:
 *   trine_gemm_pack_args args = {.struct_size = sizeof args, .method = ...}; */
typedef struct {
  size_t struct_size;
  int method;
  int activation; /* what follows the product: TRINE_GEMM_NONE, ... */
  const float* w; /* (n, k), device or host memory */
  int64_t ldw;
  int64_t n, k;
  const float* bias; /* (n), device or host memory, or null */
} trine_gemm_pack_args;

/* Waits for the stream. *weight is null on failure. */
int trine_gemm_pack(trine_gemm_context* context, const trine_gemm_pack_args* args,
                    trine_gemm_weight** weight);
/* Null is allowed. */
void trine_gemm_weight_destroy(trine_gemm_weight* weight);
/* Device memory that the packed weight takes. */
int trine_gemm_weight_bytes(const trine_gemm_weight* weight, size_t* bytes);
/* Of workspace, that any call with up to `m` rows may need. */
int trine_gemm_workspace_bytes(const trine_gemm_context* context, const trine_gemm_weight* weight,
                               int64_t m, size_t* bytes);

/* --- Products
 * -------------------------------------------------------------------------------------- */

/* y = activation(z) + residual,  z = x w^T + bias + addend. `out` is n, or n/2 with swiglu. */
typedef struct {
  size_t struct_size;
  int64_t m;
  const float* x; /* (m, k) */
  int64_t ldx;
  const float* addend; /* (m, n) or null */
  int64_t ld_addend;
  float* pre; /* (m, n) out or null: z; may be addend */
  int64_t ld_pre;
  const float* residual; /* (m, out) or null */
  int64_t ld_residual;
  float* y; /* (m, out) out; may be residual */
  int64_t ldy;
  float* row_statistics; /* (m, ceil(out/64), 2) out or null: sum of squares and largest magnitude
                            of each 64 columns of y */
  void* workspace;       /* of trine_gemm_workspace_bytes bytes, 256-aligned */
} trine_gemm_forward_args;

int trine_gemm_forward(trine_gemm_context* context, const trine_gemm_weight* weight,
                       const trine_gemm_forward_args* args);

/* dx = (dy w) . f'(pre), or dx + dy w. f is the activation that made this product's x.
 * silu: pre and dx are (m, k). swiglu: pre = [v | g] and dx = [dv | dg] are (m, 2 k). */
typedef struct {
  size_t struct_size;
  int64_t m;
  const float* dy; /* (m, n) */
  int64_t ldy;
  int activation; /* TRINE_GEMM_NONE, ... */
  int add;        /* not 0: add to dx; only without an activation */
  const float* pre;
  int64_t ld_pre;
  float* dx; /* out */
  int64_t ldx;
  void* workspace; /* of trine_gemm_workspace_bytes bytes, 256-aligned */
} trine_gemm_backward_args;

int trine_gemm_backward(trine_gemm_context* context, const trine_gemm_weight* weight,
                        const trine_gemm_backward_args* args);

/* Waits for the stream. *row is -1 if no row of x or dy had Inf or NaN since the last call of this
 * function, else the smallest such row. */
int trine_gemm_first_bad_row(trine_gemm_context* context, int64_t* row);

#ifdef __cplusplus
}
#endif

#endif
