import Entitlements
import EventLog

/// An access to what is recorded of a customer, to be noted.
struct AccessProposal: Proposal {
    let access: CustomerAccess

    func signal(in pipeline: Pipeline) -> SignalDigest { pipeline.signal(of: access.request) }

    /// Nothing is noted of one of whom nothing is recorded, nor what was noted before.
    func decision(
        in pipeline: Pipeline,
        as signal: SignalDigest,
        after earlier: UInt64?
    ) throws -> Decision<Void> {
        let resolver = StreamResolver(pipeline.vault)
        let name = StreamName(.customer(access.customer), in: access.environment)
        // Of one who is erased between here and the append the writer takes nothing (C6).
        guard earlier == nil, let stream = try resolver.stream(of: name),
            try pipeline.questions.views.lastSequence(of: stream) != nil
        else { return .settled(()) }
        let submission = access.request.submission(of: access.draft)
        switch try pipeline.sealer.seal(submission, signal: signal, resolver: resolver) {
        case .value(let sealed): return .sealed(sealed) { _ in }
        case .refused: preconditionFailure("an access is bounded far below a record")
        }
    }
}
