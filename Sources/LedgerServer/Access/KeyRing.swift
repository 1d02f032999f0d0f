package import Entitlements
import FoundationEssentials
import Synchronization

/// The API keys that a running server accepts: those of `keys.json` as it stands now.
///
/// Whoever asks for a key, at most once a second, looks whether the file is another one; so a key
/// that `entitle keys revoke` took out stops working without a restart.
package final class KeyRing: Sendable {
    private let path: String
    private let report: @Sendable (InputFault) -> Void
    private let state: Mutex<State>

    /// Milliseconds between two looks at the file.
    package static let lookIntervalMilliseconds: Int64 = 1000

    private struct State {
        var keys: [String: APIKey]
        var identity: FileIdentity?
        var lookedAt: Instant
        /// Why the file of `identity` is not what `keys` were read from.
        var fault: InputFault?
    }

    /// Reads the keys of a ledger's directory.
    ///
    /// `report` is told once of each file that turns up later and cannot be used. Until the next
    /// one the keys that were read before go on working: a slip of an editor is not an outage.
    /// - Throws: `InputFault` for the file that is there now.
    package init(
        ledgerPath path: String,
        at now: Instant,
        report: @escaping @Sendable (InputFault) -> Void
    ) throws(InputFault) {
        self.path = path
        self.report = report
        // Looked at before it is read: if it changes in between, it is read again.
        let identity = try FileIdentity(path: path + "/" + KeyFile.name)
        state = Mutex(
            State(keys: Self.byID(try KeyFile.read(at: path)), identity: identity, lookedAt: now)
        )
    }

    /// Why the file that stands there now is not in use; nil while it is.
    package var fault: InputFault? { state.withLock { $0.fault } }

    /// The key of an id.
    ///
    /// Cost: one look-up; once a second one look at the file.
    func key(_ id: String, at now: Instant) -> APIKey? {
        let (key, isDue) = state.withLock { state in
            let passed = now.milliseconds.subtractingReportingOverflow(
                state.lookedAt.milliseconds
            )
            // A clock that was set back does not stop the looking.
            let isDue =
                passed.overflow || passed.partialValue < 0
                || passed.partialValue >= Self.lookIntervalMilliseconds
            if isDue { state.lookedAt = now }
            return (state.keys[id], isDue)
        }
        guard isDue, look() else { return key }
        return state.withLock { $0.keys[id] }
    }

    /// Reads the file if it is another one; true if the keys may have changed.
    private func look() -> Bool {
        let seen = Result { () throws(InputFault) in
            try FileIdentity(path: path + "/" + KeyFile.name)
        }
        switch seen {
        case .success(let identity) where identity == state.withLock({ $0.identity }):
            return false
        case .success(let identity):
            let read = Result { () throws(InputFault) in try KeyFile.read(at: path) }
            return take(read.map(Self.byID), identity)
        case .failure(let fault):
            return take(.failure(fault), nil)
        }
    }

    private func take(
        _ read: Result<[String: APIKey], InputFault>,
        _ identity: FileIdentity?
    ) -> Bool {
        switch read {
        case .success(let keys):
            state.withLock {
                $0.keys = keys
                $0.identity = identity
                $0.fault = nil
            }
            return true
        case .failure(let fault):
            let isNews = state.withLock { state in
                let isNews = state.fault != fault || state.identity != identity
                state.identity = identity
                state.fault = fault
                return isNews
            }
            if isNews { report(fault) }
            return false
        }
    }

    private static func byID(_ file: KeyFile) -> [String: APIKey] {
        Dictionary(uniqueKeysWithValues: file.keys.map { ($0.id, $0) })
    }
}

/// What tells one file of a name from the next: its number, size and time.
private struct FileIdentity: Equatable {
    /// Empty where there is no file.
    ///
    /// In words, because Foundation's number types differ from FoundationEssentials'.
    private let attributes: [String]

    init(path: String) throws(InputFault) {
        do {
            let found = try FileManager.default.attributesOfItem(atPath: path)
            let time = (found[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate
            attributes = [
                "\(found[.systemFileNumber] ?? "")", "\(found[.size] ?? "")", "\(time ?? 0)",
            ]
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            attributes = []
        } catch {
            throw InputFault(.malformed, "", "it cannot be looked at")
        }
    }
}
