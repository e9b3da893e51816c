package rule

import _ "time/tzdata" // Windows has no database of time zones that Go reads
