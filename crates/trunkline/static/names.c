/* A program that is linked statically has those services of glibc's name service switch within it that read files and
   ask DNS. Any other it would load from the system on which it runs, where a glibc of another version than its own ends
   it by a signal. It asks none of them, whatever nsswitch.conf says. */

#include <nss.h>

__attribute__((constructor)) static void ask_files_and_dns(void) {
  __nss_configure_lookup("hosts", "files dns");
  __nss_configure_lookup("passwd", "files");
  __nss_configure_lookup("group", "files");
}
