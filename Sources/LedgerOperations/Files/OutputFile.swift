package import DurableFiles
import Glibc
import LMDBStorage

/// Files that options name: whole in their place or as they were, and never in place of a device.
package enum OutputFile {
    /// Who may read what names nobody and is made to be handed on.
    package static let forOthers: UInt32 = 0o644

    /// Begins a file; for its owner only unless told otherwise.
    ///
    /// - Throws: `OperationFault`.
    package static func open(_ path: String, mode: UInt32 = 0o600) throws -> FileOutput {
        do {
            return try FileOutput(path, mode: mode)
        } catch let fault as FileFault {
            throw OperationFault(making: path, fault)
        }
    }

    /// Writes a whole file.
    ///
    /// - Throws: `OperationFault`.
    package static func write(_ text: String, to path: String, mode: UInt32 = 0o600) throws {
        let output = try open(path, mode: mode)
        do {
            try output.write(text.utf8)
            try output.close()
        } catch let fault as FileFault {
            throw OperationFault(writing: path, fault)
        }
    }

    /// Makes a file that must not be there yet.
    ///
    /// - Throws: `OperationFault`.
    package static func create(_ text: String, at path: String, mode: UInt32 = 0o600) throws {
        do {
            try DurableFile.create(path, with: Array(text.utf8), mode: mode)
        } catch let fault as FileFault {
            throw OperationFault(making: path, fault)
        }
    }
}

extension OperationFault {
    /// A file that cannot be begun.
    package init(making path: String, _ fault: FileFault) {
        let (message, hint): (String, String?) =
            switch fault.code {
            case EEXIST: ("something stands there already", "choose another name")
            case EISDIR: ("a directory stands there", "name a file in it")
            case ENOENT, ENOTDIR: ("its directory is not there", "make it first")
            case EACCES, EPERM, EROFS: ("the file may not be written", nil)
            default: ("the file cannot be made (\(fault.operation): errno \(fault.code))", nil)
            }
        self.init(.cannotCreate, message, place: path, hint: hint)
    }

    /// A file that takes nothing more.
    package init(writing path: String, _ fault: FileFault, hint: String? = nil) {
        self.init(
            .output,
            "the file cannot be written (\(fault.operation): errno \(fault.code))",
            place: path,
            hint: hint ?? "what stood there before stands; make room, then run the command again"
        )
    }
}
