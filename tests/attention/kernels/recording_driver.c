/* A CUDA driver that launches nothing and writes down what it is asked to launch. */

#include <stdint.h>
#include <string.h>

#include "cuda.h"

#define LAUNCHES 8
#define ARGUMENTS 8

int launches = 0;
int64_t launched[LAUNCHES][8]; /* grid, threads, shared memory, attributes, function, stream */
uint32_t arguments[LAUNCHES][ARGUMENTS];
uint64_t addresses[LAUNCHES][2];

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **given, void **extra) {
  int64_t seen[8] = {config->gridDimX,       config->gridDimY, config->gridDimZ,  config->blockDimX,
                     config->sharedMemBytes, config->numAttrs, (int64_t)function, (int64_t)config->hStream};
  int now = launches++ % LAUNCHES;
  memcpy(launched[now], seen, sizeof seen);
  for (int i = 0; i < ARGUMENTS; i++) memcpy(&arguments[now][i], given[i], 4);
  for (int i = 0; i < 2; i++) memcpy(&addresses[now][i], given[i], 8);
  return CUDA_SUCCESS;
}

static int context;
static intptr_t handles = 1000;

CUresult cuCtxGetCurrent(CUcontext *found) { *found = (CUcontext)&context; return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext given) { return CUDA_SUCCESS; }
CUresult cuCtxGetLimit(size_t *found, CUlimit limit) { *found = 0; return CUDA_SUCCESS; }
CUresult cuCtxSetLimit(CUlimit limit, size_t given) { return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *found, int number) { *found = 0; return CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *found, CUdevice_attribute of, CUdevice device) { *found = 232448; return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext *found, CUdevice device) { return cuCtxGetCurrent(found); }
CUresult cuDriverGetVersion(int *found) { *found = 13000; return CUDA_SUCCESS; }
CUresult cuFuncGetAttribute(int *found, CUfunction_attribute of, CUfunction function) {
  *found = of == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute of, int given) { return CUDA_SUCCESS; }
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache given) { return CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult error, const char **found) { *found = "none"; return CUDA_SUCCESS; }
CUresult cuModuleLoadData(CUmodule *found, const void *data) { *found = (CUmodule)++handles; return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction *found, CUmodule module, const char *name) { *found = (CUfunction)++handles; return CUDA_SUCCESS; }
CUresult cuOccupancyMaxActiveClusters(int *found, CUfunction function, const CUlaunchConfig *config) { *found = 1; return CUDA_SUCCESS; }
CUresult cuPointerGetAttribute(void *found, CUpointer_attribute of, CUdeviceptr place) { *(CUdeviceptr *)found = place; return CUDA_SUCCESS; }
