// What a handler needs of the ABI of XLA's foreign function interface, major version 0: how a
// compiled program calls code of other libraries, here to have ttlg move an array within it.
//
// Structs begin with their size as the caller knows them, so that both sides can tell which members
// the other has. Nothing declared here has changed since version 0.1, the oldest that XLA takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ttlg::xla {

inline constexpr std::int32_t kMajorVersion = 0;
inline constexpr std::int32_t kMinorVersion = 1;

// Opaque: made by XLA, which takes it back where a handler returns it.
struct Error;

// Additions to a struct, as a linked list.
struct Extension {
  std::size_t struct_size;
  std::int32_t type;
  Extension* next;
};

struct ApiVersion {
  std::size_t struct_size;
  Extension* extensions;
  std::int32_t major;
  std::int32_t minor;
};

// What a handler answers a call frame with that has the extension below. XLA may know more members,
// which it sets to what a handler without state has.
struct Metadata {
  std::size_t struct_size;
  ApiVersion api_version;
  std::uint32_t traits;  // bits; none is about CPUs
};

inline constexpr std::int32_t kMetadataExtension = 1;

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

enum ErrorCode : std::int32_t { kInvalidArgument = 3, kInternal = 13 };

struct ErrorArguments {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  std::int32_t code;
};

struct DestroyErrorArguments {
  std::size_t struct_size;
  Extension* extensions;
  Error* error;
};

// Of the call frame.
struct Context;

struct ScheduleArguments {
  std::size_t struct_size;
  Extension* extensions;
  Context* context;
  void (*task)(void* data);
  void* data;
};

struct NumThreadsArguments {
  std::size_t struct_size;
  Extension* extensions;
  Context* context;
  std::int64_t* num_threads;  // out
};

// XLA has more functions after these. Those that are not called here are pointers of another kind.
struct Api {
  std::size_t struct_size;
  Extension* extensions;
  ApiVersion version;
  const void* internal;
  Error* (*create_error)(ErrorArguments* arguments);
  void (*get_error_message)();
  void (*destroy_error)(DestroyErrorArguments* arguments);
  void (*others[8])();  // up to DeviceMemory_Free
  Error* (*schedule)(ScheduleArguments* arguments);
  Error* (*count_threads)(NumThreadsArguments* arguments);
};

// The numbers of XLA's PrimitiveType.
enum DataType : std::int32_t {
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kC64 = 15,
  kBF16 = 16,
  kC128 = 18,
  kF8E5M2 = 19,
  kF8E4M3FN = 20,
  kF8E4M3B11FNUZ = 23,
  kF8E5M2FNUZ = 24,
  kF8E4M3FNUZ = 25,
  kF8E4M3 = 28,
  kF8E3M4 = 29,
  kF8E8M0FNU = 33,
};

// Row-major, unless the program says otherwise.
struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  std::int32_t dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* shape;
};

inline constexpr std::int32_t kBufferType = 1;

// Arguments or results: their types and, where the type is that of a buffer, pointers to buffers.
struct Operands {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t count;
  std::int32_t* types;
  void** values;
};

enum AttributeType : std::int32_t { kArray = 1, kScalar = 3 };

struct Array {
  std::int32_t dtype;
  std::size_t size;
  void* data;
};

struct Scalar {
  std::int32_t dtype;
  void* value;
};

struct Text {
  const char* data;
  std::size_t size;

  operator std::string_view() const { return {data, size}; }
};

struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t count;
  std::int32_t* types;
  Text** names;
  void** values;  // pointers to arrays and scalars, as the types say
};

inline constexpr std::int32_t kExecuteStage = 3;

// XLA has one more member, with which a handler may answer later.
struct CallFrame {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;  // null where older versions ask for metadata
  Context* context;
  std::int32_t stage;
  Operands arguments;
  Operands results;
  Attributes attributes;
};

}  // namespace ttlg::xla
