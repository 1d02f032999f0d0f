import Entitlements
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads whom the server trusts again at each SIGHUP.
///
/// What cannot be used changes nothing: what was read before goes on, and a line says so.
struct TrustRenewal: Service {
    let service: LedgerService
    let read: LedgerServer.TrustReading

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            do {
                service.renew(try await read())
                service.logger.notice("stores, keys of customers and certificate were read again")
            } catch {
                service.logger.error(
                    "what was read again cannot be used: what was read before goes on",
                    metadata: ["fault": "\(error.detail)"]
                )
            }
        }
    }
}
