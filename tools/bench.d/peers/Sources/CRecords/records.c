// All is in the header; SwiftPM wants a source.
#include "records.h"
