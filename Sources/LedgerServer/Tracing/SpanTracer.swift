import Tracing

/// Makes spans, whose numbers go on from those of whoever asks, and hands those that ended to a queue.
///
/// It is no global tracer: libraries that find one, as AsyncHTTPClient does, note whole addresses, in
/// which stores' purchases and customers stand.
struct SpanTracer: Tracer {
    let queue: SpanQueue
    /// Of a hundred traces that begin here, those that are sent.
    var percent = 100

    func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.spanPlace
        let place =
            parent.map { SpanPlace(within: $0) }
            ?? SpanPlace(isSampled: Int.random(in: 0..<100) < percent)
        context.spanPlace = place
        context.spanTracer = self
        return RecordedSpan(
            operationName,
            kind,
            place,
            parent: parent?.span,
            context,
            startedAt: instant().nanosecondsSinceEpoch,
            queue
        )
    }

    /// Nothing: the queue is emptied by whoever sends.
    func forceFlush() {}

    func extract<Fields, Extract: Extractor>(
        _ fields: Fields,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.`Carrier` == Fields {
        let said = extractor.extract(key: TraceParent.field, from: fields)
        if let place = SpanPlace(TraceParent(said)) { context.spanPlace = place }
    }

    func inject<Fields, Inject: Injector>(
        _ context: ServiceContext,
        into fields: inout Fields,
        using injector: Inject
    ) where Inject.`Carrier` == Fields {
        guard let place = context.spanPlace else { return }
        injector.inject(place.traceParent, forKey: TraceParent.field, into: &fields)
    }
}

/// Does a part of what is traced now as a span of its own.
///
/// Cost: where nothing is traced, a look at the task.
func withSpanOfPart<Result>(
    _ name: String,
    ofKind kind: SpanKind = .internal,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (RecordedSpan?) async throws -> Result
) async rethrows -> Result {
    guard let context = ServiceContext.current, let tracer = context.spanTracer else {
        return try await body(nil)
    }
    let span = tracer.startSpan(name, context: context, ofKind: kind)
    defer { span.end() }
    do {
        return try await ServiceContext.withValue(span.context) { try await body(span) }
    } catch {
        span.recordError(error)
        throw error
    }
}
