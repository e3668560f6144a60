// The subcommands, one file each. Each takes the arguments after its name and returns the exit status.
#pragma once

#include "app/cli/options.h"

namespace tandem::cli {

int runCommand(const Arguments& arguments);
int chatCommand(const Arguments& arguments);
int tokenizeCommand(const Arguments& arguments);
int detokenizeCommand(const Arguments& arguments);
int logitsCommand(const Arguments& arguments);
int inspectCommand(const Arguments& arguments);
int pplCommand(const Arguments& arguments);
int verifyCommand(const Arguments& arguments);
int agreementCommand(const Arguments& arguments);
int sampledDistCommand(const Arguments& arguments);
int benchCommand(const Arguments& arguments);
int cacheCommand(const Arguments& arguments);
int diskRestoreCheckCommand(const Arguments& arguments);

}  // namespace tandem::cli
