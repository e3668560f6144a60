// tandem-desktop: the window over the engine and the store.
#include "app/desktop/program.h"

int main(int argc, char** argv) {
  return tandem::desktop::runProgram(argc, argv);
}
