import LedgerOperations
import LedgerServer

/// An option's value that is a port to listen on.
enum PortArgument {
    /// Refuses a number that no port has.
    ///
    /// `place`: the option.
    static func require(_ port: Int, place: String = "--port") throws {
        guard ServerConfiguration.ports.contains(port) else {
            throw OperationFault(.usage, "expected \(ServerConfiguration.ports)", place: place)
        }
    }
}
