// Whole files from C++: handles that free themselves, errors as exceptions, progress from another thread.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <tress.h>

struct Free {
  void operator()(tress_keypair *pair) const { tress_keypair_free(pair); }
  void operator()(tress_recipients *recipients) const { tress_recipients_free(recipients); }
  void operator()(tress_identities *identities) const { tress_identities_free(identities); }
  void operator()(tress_control *control) const { tress_control_free(control); }
};
template <typename T> using Handle = std::unique_ptr<T, Free>;

static void check(tress_status status) {
  if (status != TRESS_OK) throw std::runtime_error(tress_last_error());
}

static Handle<tress_keypair> generate() {
  tress_keypair *pair = nullptr;
  check(tress_keypair_generate(&pair));
  return Handle<tress_keypair>(pair);
}

int main(int argc, char **argv) try {
  const std::string plain = argc > 1 ? argv[1] : "example.txt";
  const std::string sealed = plain + ".tress", back = plain + ".back";
  std::ofstream(plain) << std::string(3000000, 'x');

  const auto pair = generate();
  const Handle<tress_recipients> recipients(tress_recipients_new());
  check(tress_recipients_add(recipients.get(), tress_keypair_recipient(pair.get())));
  const Handle<tress_control> control(tress_control_new());
  tress_report report{};
  auto work = std::async(std::launch::async, [&] {
    check(tress_encrypt_file(plain.c_str(), sealed.c_str(), recipients.get(), nullptr, control.get(), &report));
  });
  // tress_control_cancel(control.get()) would stop the encryption here and remove its output.
  while (work.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
    std::cout << tress_control_done_bytes(control.get()) << " bytes done\n";
  work.get();
  std::cout << report.bytes_in << " bytes in " << report.chunks << " chunks\n";

  const std::string identity = tress_keypair_identity(pair.get());
  const Handle<tress_identities> identities(tress_identities_new());
  const auto bytes = reinterpret_cast<const uint8_t *>(identity.data());
  check(tress_identities_add(identities.get(), bytes, identity.size(), nullptr));
  check(tress_decrypt_file(sealed.c_str(), back.c_str(), identities.get(), nullptr, nullptr, nullptr));
  // The second call fails, because the output exists.
  const auto status = tress_decrypt_file(sealed.c_str(), back.c_str(), identities.get(), nullptr, nullptr, nullptr);
  std::cout << tress_status_text(status) << '\n';

  for (const auto &path : {plain, sealed, back}) std::remove(path.c_str());
  return status == TRESS_OUTPUT_EXISTS ? 0 : 1;
} catch (const std::exception &error) {
  std::cerr << "files: " << error.what() << '\n';
  return 1;
}
