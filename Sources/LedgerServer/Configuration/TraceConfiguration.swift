import LedgerOperations

/// Who collects spans, as it is set: by our own settings, else by the variables that programs have in
/// common (OpenTelemetry, "OTLP Exporter Configuration").
enum TraceConfiguration {
    /// Where spans go below an address that is given for all that is sent.
    private static let path = "/v1/traces"

    /// nil: nobody does.
    ///
    /// - Throws: `OperationFault` for what is no address, or another protocol than is spoken.
    static func collector(
        _ settings: Settings,
        variable: (_ name: String) -> String?
    ) throws -> LedgerServer.TraceCollector? {
        let isOff = variable("OTEL_SDK_DISABLED")?.lowercased() == "true"
        guard let place = settings[.tracesEndpoint] ?? (isOff ? nil : common(variable)),
            !place.isEmpty
        else { return nil }
        let address: HTTPAddress
        do {
            address = try HTTPAddress(place, mayBePrivate: true)
        } catch {
            throw OperationFault(
                .configuration,
                "traces go to an address such as http://127.0.0.1:4318/v1/traces",
                place: place
            )
        }
        var collector = LedgerServer.TraceCollector(url: address.url)
        if let name = variable("OTEL_SERVICE_NAME"), !name.isEmpty { collector.serviceName = name }
        collector.percent = try settings.number(.tracesPercent, in: 0...100) ?? collector.percent
        return collector
    }

    private static func common(_ variable: (_ name: String) -> String?) -> String? {
        if let place = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), !place.isEmpty {
            return place
        }
        guard let base = variable("OTEL_EXPORTER_OTLP_ENDPOINT"), !base.isEmpty else { return nil }
        return (base.hasSuffix("/") ? String(base.dropLast()) : base) + path
    }
}
