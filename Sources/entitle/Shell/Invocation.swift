import ArgumentParser
import Encodings
import Foundation
import Glibc
import LedgerOperations
import Synchronization

/// The command in hand: what is set for it, and what only its process was told.
struct Invocation {
    /// What flags do not say.
    var settings = Settings()
    /// The ledger that it works on, for messages.
    var ledgerPath: String?
    /// The master key, as the process that started this one handed it over.
    fileprivate(set) var passedKey: String?
    private var descriptor: KeyDescriptor?

    private static let shared = Mutex(Invocation())

    static var current: Invocation {
        get { shared.withLock { $0 } }
        set { shared.withLock { $0 = newValue } }
    }

    /// The descriptor of a number: it is read once, whoever asks.
    static func descriptor(_ number: Int32) -> KeyDescriptor {
        shared.withLock { state in
            if let known = state.descriptor, known.number == number { return known }
            let new = KeyDescriptor(number)
            state.descriptor = new
            return new
        }
    }

    /// Ends with a fault, once it is told.
    static func end(_ error: any Error, json: Bool) -> Never {
        let fault = OperationFault(telling: error, ofLedgerAt: current.ledgerPath)
        Terminal.report(fault, json: json)
        Glibc.exit(fault.code.status.rawValue)
    }
}

extension OperationFault {
    /// Does something in a directory that may be another than the ledger's, and names it in what fails there.
    static func naming<Value>(_ directory: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            var fault = OperationFault(telling: error, ofLedgerAt: directory)
            fault.place = fault.place ?? directory
            throw fault
        }
    }
}

extension AuditChild {
    /// This program.
    static let own = AuditChild(program: "/proc/self/exe")

    /// Takes the key that the other process hands over; for the child.
    static func takeKey() {
        guard let line = readLine(), !line.isEmpty else { return }
        Invocation.current.passedKey = line
    }

    /// Takes the checkpoint that the other process hands over behind the key; for the child.
    ///
    /// nil: it does not.
    static func takeNote() -> String? {
        guard let line = readLine() else { return nil }
        return (try? JSONValue(parsing: Array(line.utf8)))?.string
    }

    /// Ends this process when the one that started it is gone; for the child.
    static func endWithParent() {
        Thread.detachNewThread {
            // An error ends the input as well.
            _ = try? FileHandle.standardInput.readToEnd()
            Glibc.exit(ExitStatus.interrupted.rawValue)
        }
    }
}

extension ExitCode {
    init(_ status: ExitStatus) { self.init(status.rawValue) }
}
