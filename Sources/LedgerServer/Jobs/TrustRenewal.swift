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
            guard await service.renewTrust(read) else { continue }
            service.logger.notice("stores, keys of customers and certificate were read again")
        }
    }
}

/// Reads whom the server trusts again now and then, so that a renewed certificate counts without a signal,
/// and fetches the keys of those who sign for Google before a push has to wait for them.
struct TrustRefresh: ScheduledJob {
    let service: LedgerService
    let read: LedgerServer.TrustReading
    let interval: Duration

    /// An hour.
    static let standardInterval = Duration.seconds(3600)

    var job: JobBoard.Job { .trust }

    func run() async -> JobRun {
        // Whoever stops the server does not wait for who hands out keys.
        await cancelWhenGracefulShutdown {
            guard await service.renewTrust(read) else { return .failed() }
            guard let push = service.stores.playPush else { return .done }
            let now = service.clock()
            // So that none lapses before the next run.
            if await push.fetchesKeys(lapsedBy: now + interval, at: now) { return .done }
            service.logger.warning("the keys of Google's pushes cannot be fetched")
            return .failed()
        }
    }
}

extension LedgerService {
    /// Takes what is read again; false: it cannot be used, and a line says so.
    fileprivate func renewTrust(_ read: LedgerServer.TrustReading) async -> Bool {
        do throws(InputFault) {
            renew(try await read())
            return true
        } catch {
            logger.error(
                "what was read again cannot be used: what was read before goes on",
                metadata: ["fault": "\(error.detail)"]
            )
            return false
        }
    }
}
