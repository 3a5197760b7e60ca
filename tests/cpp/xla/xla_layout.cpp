#include <xla/ffi/api/c_api.h>  // of jaxlib

#include "same_layout.hpp"
#include "xla/ffi.hpp"

using namespace ttlg::xla;

// Every struct but these two begins with its size and its extensions.
#define SAME_HEAD(ours, theirs)                        \
  SAME_MEMBER(ours, struct_size, theirs, struct_size); \
  SAME_MEMBER(ours, extensions, theirs, extension_start)

SAME_MEMBER(Extension, struct_size, XLA_FFI_Extension_Base, struct_size);
SAME_MEMBER(Extension, type, XLA_FFI_Extension_Base, type);
SAME_MEMBER(Extension, next, XLA_FFI_Extension_Base, next);
static_assert(sizeof(Extension) == sizeof(XLA_FFI_Extension_Base));

SAME_MEMBER(Metadata, struct_size, XLA_FFI_Metadata, struct_size);
SAME_MEMBER(Metadata, api_version, XLA_FFI_Metadata, api_version);
SAME_MEMBER(Metadata, traits, XLA_FFI_Metadata, traits);
SAME_MEMBER(MetadataExtension, base, XLA_FFI_Metadata_Extension, extension_base);
SAME_MEMBER(MetadataExtension, metadata, XLA_FFI_Metadata_Extension, metadata);
static_assert(kMetadataExtension == XLA_FFI_Extension_Metadata);

static_assert(kMajorVersion == XLA_FFI_API_MAJOR && kMinorVersion <= XLA_FFI_API_MINOR);
SAME_HEAD(ApiVersion, XLA_FFI_Api_Version);
SAME_MEMBER(ApiVersion, major, XLA_FFI_Api_Version, major_version);
SAME_MEMBER(ApiVersion, minor, XLA_FFI_Api_Version, minor_version);
static_assert(sizeof(ApiVersion) == sizeof(XLA_FFI_Api_Version));

SAME_HEAD(ErrorArguments, XLA_FFI_Error_Create_Args);
SAME_MEMBER(ErrorArguments, message, XLA_FFI_Error_Create_Args, message);
SAME_MEMBER(ErrorArguments, code, XLA_FFI_Error_Create_Args, errc);
static_assert(ErrorCode::kInvalidArgument == ErrorCode{XLA_FFI_Error_Code_INVALID_ARGUMENT});
static_assert(ErrorCode::kInternal == ErrorCode{XLA_FFI_Error_Code_INTERNAL});
SAME_HEAD(DestroyErrorArguments, XLA_FFI_Error_Destroy_Args);
SAME_MEMBER(DestroyErrorArguments, error, XLA_FFI_Error_Destroy_Args, error);

SAME_HEAD(ScheduleArguments, XLA_FFI_ThreadPool_Schedule_Args);
SAME_MEMBER(ScheduleArguments, context, XLA_FFI_ThreadPool_Schedule_Args, ctx);
SAME_MEMBER(ScheduleArguments, task, XLA_FFI_ThreadPool_Schedule_Args, task);
SAME_MEMBER(ScheduleArguments, data, XLA_FFI_ThreadPool_Schedule_Args, data);
SAME_HEAD(NumThreadsArguments, XLA_FFI_ThreadPool_NumThreads_Args);
SAME_MEMBER(NumThreadsArguments, context, XLA_FFI_ThreadPool_NumThreads_Args, ctx);
SAME_MEMBER(NumThreadsArguments, num_threads, XLA_FFI_ThreadPool_NumThreads_Args, num_threads);

SAME_HEAD(Api, XLA_FFI_Api);
SAME_MEMBER(Api, version, XLA_FFI_Api, api_version);
SAME_MEMBER(Api, create_error, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME_MEMBER(Api, destroy_error, XLA_FFI_Api, XLA_FFI_Error_Destroy);
SAME_MEMBER(Api, schedule, XLA_FFI_Api, XLA_FFI_ThreadPool_Schedule);
SAME_MEMBER(Api, count_threads, XLA_FFI_Api, XLA_FFI_ThreadPool_NumThreads);

#define SAME_TYPE(name) static_assert(int{k##name} == XLA_FFI_DataType_##name)
static_assert(int{kPred} == XLA_FFI_DataType_PRED);
SAME_TYPE(S8);
SAME_TYPE(S16);
SAME_TYPE(S32);
SAME_TYPE(S64);
SAME_TYPE(U8);
SAME_TYPE(U16);
SAME_TYPE(U32);
SAME_TYPE(U64);
SAME_TYPE(F16);
SAME_TYPE(F32);
SAME_TYPE(F64);
SAME_TYPE(C64);
SAME_TYPE(BF16);
SAME_TYPE(C128);
SAME_TYPE(F8E5M2);
SAME_TYPE(F8E4M3FN);
SAME_TYPE(F8E4M3B11FNUZ);
SAME_TYPE(F8E5M2FNUZ);
SAME_TYPE(F8E4M3FNUZ);
SAME_TYPE(F8E4M3);
SAME_TYPE(F8E3M4);
SAME_TYPE(F8E8M0FNU);

SAME_HEAD(Buffer, XLA_FFI_Buffer);
SAME_MEMBER(Buffer, dtype, XLA_FFI_Buffer, dtype);
SAME_MEMBER(Buffer, data, XLA_FFI_Buffer, data);
SAME_MEMBER(Buffer, rank, XLA_FFI_Buffer, rank);
SAME_MEMBER(Buffer, shape, XLA_FFI_Buffer, dims);
static_assert(kBufferType == XLA_FFI_ArgType_BUFFER && kBufferType == XLA_FFI_RetType_BUFFER);

SAME_HEAD(Operands, XLA_FFI_Args);
SAME_MEMBER(Operands, count, XLA_FFI_Args, size);
SAME_MEMBER(Operands, types, XLA_FFI_Args, types);
SAME_MEMBER(Operands, values, XLA_FFI_Args, args);
static_assert(sizeof(Operands) == sizeof(XLA_FFI_Args));
SAME_HEAD(Operands, XLA_FFI_Rets);
SAME_MEMBER(Operands, count, XLA_FFI_Rets, size);
SAME_MEMBER(Operands, types, XLA_FFI_Rets, types);
SAME_MEMBER(Operands, values, XLA_FFI_Rets, rets);
static_assert(sizeof(Operands) == sizeof(XLA_FFI_Rets));

static_assert(int{kArray} == XLA_FFI_AttrType_ARRAY && int{kScalar} == XLA_FFI_AttrType_SCALAR);
SAME_MEMBER(Array, dtype, XLA_FFI_Array, dtype);
SAME_MEMBER(Array, size, XLA_FFI_Array, size);
SAME_MEMBER(Array, data, XLA_FFI_Array, data);
SAME_MEMBER(Scalar, dtype, XLA_FFI_Scalar, dtype);
SAME_MEMBER(Scalar, value, XLA_FFI_Scalar, value);
SAME_MEMBER(Text, data, XLA_FFI_ByteSpan, ptr);
SAME_MEMBER(Text, size, XLA_FFI_ByteSpan, len);
SAME_HEAD(Attributes, XLA_FFI_Attrs);
SAME_MEMBER(Attributes, count, XLA_FFI_Attrs, size);
SAME_MEMBER(Attributes, types, XLA_FFI_Attrs, types);
SAME_MEMBER(Attributes, names, XLA_FFI_Attrs, names);
SAME_MEMBER(Attributes, values, XLA_FFI_Attrs, attrs);
static_assert(sizeof(Attributes) == sizeof(XLA_FFI_Attrs));

SAME_HEAD(CallFrame, XLA_FFI_CallFrame);
SAME_MEMBER(CallFrame, api, XLA_FFI_CallFrame, api);
SAME_MEMBER(CallFrame, context, XLA_FFI_CallFrame, ctx);
SAME_MEMBER(CallFrame, stage, XLA_FFI_CallFrame, stage);
SAME_MEMBER(CallFrame, arguments, XLA_FFI_CallFrame, args);
SAME_MEMBER(CallFrame, results, XLA_FFI_CallFrame, rets);
SAME_MEMBER(CallFrame, attributes, XLA_FFI_CallFrame, attrs);
static_assert(kExecuteStage == XLA_FFI_ExecutionStage_EXECUTE);
