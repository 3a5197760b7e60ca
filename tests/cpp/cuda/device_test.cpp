#include "cuda/device.hpp"

#include <gtest/gtest.h>

namespace ttlg::cuda {
namespace {

TEST(Query, NeverThrowsAndSaysWhyThereAreNoDevices) {
  Config config;
  ASSERT_NO_THROW(config = query());
  EXPECT_FALSE(config.status.empty());
  EXPECT_EQ(config.devices.empty(), config.status != "ok");
}

TEST(Query, DescribesTheBuild) {
  const Config config = query();
  EXPECT_EQ(config.built, !config.toolkit.empty());
  EXPECT_EQ(config.built, !config.architectures.empty());
  EXPECT_TRUE(config.built || config.driver.empty());
}

TEST(Query, DescribesEveryDevice) {
  for (const DeviceInfo& device : query().devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_NE(device.compute_capability.find('.'), std::string::npos);
    EXPECT_GT(device.memory_bytes, 0U);
    EXPECT_GT(device.multiprocessors, 0);
  }
}

}  // namespace
}  // namespace ttlg::cuda
