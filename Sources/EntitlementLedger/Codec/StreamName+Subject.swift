import Entitlements
import EventLog

extension StreamName {
    /// The name of a subject's stream: the one place where a subject becomes a name of the vault.
    init(_ subject: Subject, in environment: StoreEnvironment) {
        self.init(environment: environment.rawValue, subject: subject.description)
    }
}
