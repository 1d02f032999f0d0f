import Entitlements
import EventLog

extension StreamName {
    /// The name of a subject's stream: the one place where a subject becomes a name of the vault.
    init(_ subject: Subject, in environment: StoreEnvironment) {
        self.init(environment: environment.rawValue, subject: subject.description)
    }
}

extension NameReader {
    /// The customer whom a stream is about; nil: it is about another subject, or erased.
    func customer(of stream: UInt64) throws -> CustomerID? {
        guard let subject = try name(of: stream)?.subject,
            case .customer(let id)? = Subject(subject)
        else { return nil }
        return id
    }
}
