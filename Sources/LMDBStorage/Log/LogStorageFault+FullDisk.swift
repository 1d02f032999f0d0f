import DurableFiles
package import EventLog
import LMDB

extension LogStorageFault {
    /// Whether an error says that a disk takes nothing more.
    package static func isFullDisk(_ error: any Error) -> Bool {
        switch error {
        case let fault as LogStorageFault: fault.code == .full
        case let fault as FileFault: fault.isFullDisk
        case let fault as LMDBError: [.mapFull, .diskFull].contains(fault.kind)
        default: false
        }
    }
}
