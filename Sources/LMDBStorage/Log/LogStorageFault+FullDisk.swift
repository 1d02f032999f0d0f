public import EventLog
import Glibc
import LMDB

extension LogStorageFault {
    /// Whether an error says that a disk takes nothing more.
    public static func isFullDisk(_ error: any Error) -> Bool {
        switch error {
        case let fault as LogStorageFault: fault.code == .full
        case let fault as FileFault: [ENOSPC, EDQUOT].contains(fault.code)
        case let fault as LMDBError: [.mapFull, .diskFull].contains(fault.kind)
        default: false
        }
    }
}
