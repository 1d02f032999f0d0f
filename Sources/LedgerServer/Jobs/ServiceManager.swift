import EntitlementLedger
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The service manager that started the server, systemd say, which is told how the server is
/// (freedesktop.org, "sd_notify").
package struct ServiceManager: Sendable {
    private let path: String
    /// How often it wants to hear that the server is well; nil: it does not.
    let interval: Duration?

    /// Takes where it listens and how long it waits, as it says so in variables of the environment; nil: nobody listens.
    package init?(processID: Int32, variable: (_ name: String) -> String?) {
        // systemd's has been a file since it tells services; NIO knows no socket of another kind.
        guard let path = variable("NOTIFY_SOCKET"), path.hasPrefix("/") else { return nil }
        self.path = path
        let isOurs = variable("WATCHDOG_PID").map { $0 == String(processID) } ?? true
        let microseconds = variable("WATCHDOG_USEC").flatMap { Int64($0) }
        // Half of what it waits, as it recommends.
        interval = microseconds.flatMap { isOurs && $0 > 1 ? .microseconds($0 / 2) : nil }
    }

    /// Tells it; who does not listen any more is not told.
    func tell(_ state: State) async {
        do {
            let channel = try await DatagramBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(unixDomainSocketPath: path).get()
            // Whether it was taken makes no difference: there is nobody else to tell.
            try? await channel.writeAndFlush(ByteBuffer(string: state.rawValue))
            // Nor whether it was ended in order.
            try? await channel.close()
        } catch {
            return
        }
    }

    /// How the server is.
    enum State: String {
        case isReady = "READY=1"
        case isStopping = "STOPPING=1"
        case isAlive = "WATCHDOG=1"
    }
}

/// Tells the service manager now and then that the server can answer, and in the end that it stops.
struct ServiceManagerWatch: Service {
    let service: LedgerService
    let manager: ServiceManager

    /// How often it is looked whether the server stops, where nobody wants to hear that it is well.
    private static let patience = Duration.seconds(3600)

    func run() async throws {
        while await (manager.interval ?? Self.patience).passes() {
            guard manager.interval != nil else { continue }
            // What hangs is not said to be well: the manager starts the server again.
            let size = try? await service.blocking { [ledger = service.ledger] in
                try ledger.questions.size()
            }
            if size != nil { await manager.tell(.isAlive) }
        }
        await manager.tell(.isStopping)
    }
}
