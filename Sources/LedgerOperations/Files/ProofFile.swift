package import EventLog
import Foundation

/// Files and keys that a proof is checked with.
package enum ProofFile {
    /// Bytes of a file at most, unless it is said otherwise.
    package static let byteLimit = 4 << 20

    /// The bytes of a file.
    ///
    /// - Throws: `OperationFault`.
    package static func bytes(_ path: String, upTo limit: Int = byteLimit) throws -> [UInt8] {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw OperationFault(reading: path, error, as: .noFile, "the file cannot be read")
        }
        guard data.count <= limit else {
            throw OperationFault(.tooLarge, "the file is too long", place: path)
        }
        return Array(data)
    }

    /// The text of a file.
    ///
    /// - Throws: `OperationFault`.
    package static func text(_ path: String) throws -> String {
        guard let text = String(validating: try bytes(path), as: UTF8.self) else {
            throw OperationFault(.notText, "the file is not UTF-8", place: path)
        }
        return text
    }

    /// Does something with the text of a checkpoint that was given in a file.
    ///
    /// - Throws: `OperationFault` naming the file where it holds none, or another log's; what the body throws.
    package static func withCheckpoint<Outcome>(
        _ path: String,
        _ body: (_ note: String) throws -> Outcome
    ) throws -> Outcome {
        try withCheckpoint(try text(path), of: path, body)
    }

    /// The same with a text that was read of the file already.
    package static func withCheckpoint<Outcome>(
        _ note: String,
        of path: String,
        _ body: (_ note: String) throws -> Outcome
    ) throws -> Outcome {
        do {
            return try body(note)
        } catch let fault as NoteFault {
            throw OperationFault(
                OperationFault.Code(fault.code.rawValue, .badInput),
                fault.message,
                place: path
            )
        }
    }

    /// A key that was given as text.
    ///
    /// `place`: the option that gave it.
    ///
    /// - Throws: `OperationFault`.
    package static func key(
        _ text: String,
        _ place: String,
        kind: VerifierKey.Kind = .note
    ) throws -> VerifierKey {
        do {
            let key = try VerifierKey(parsing: text)
            guard key.kind == kind else {
                throw NoteFault(.unsupportedKey, "the key is not of the kind that is asked for")
            }
            return key
        } catch let fault as NoteFault {
            throw OperationFault(.usage, fault.message, place: place)
        }
    }
}

extension OperationFault {
    /// A file that Foundation could not read.
    ///
    /// `code`: where it is not for want of a right, such as that of a file which is not there.
    package init(reading path: String, _ error: any Error, as code: Code, _ message: String) {
        let isRefused = (error as? CocoaError)?.code == .fileReadNoPermission
        self.init(isRefused ? .notPermitted : code, message, place: path)
    }
}
