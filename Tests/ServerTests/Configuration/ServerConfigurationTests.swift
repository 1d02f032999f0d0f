import EntitlementLedger
import Foundation
import LedgerOperations
import Logging
import Testing

@testable import LedgerServer

struct `A server's configuration` {
    /// The options that settings make of a new ledger.
    private static func options(
        isReadOnly: Bool = false,
        _ settings: [(Setting, String)]
    ) async throws -> LedgerServer.Options {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "configuration-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var opening = OpenLedger.Options(createsIfMissing: true)
        var ledger = try Ledger.open(at: folder, options: opening)
        if isReadOnly {
            try ledger.close()
            opening.isReadOnly = true
            ledger = try Ledger.open(at: folder, options: opening)
        }
        defer { try? ledger.close() }
        let set = try Settings(file: nil) { setting in settings.last { $0.0 == setting }?.1 }
        return try await ServerConfiguration(set, ofLedgerAt: folder, log: { _ in })
            .options(ledger)
    }

    @Test func `is the usual one where nothing is set`() async throws {
        let options = try await Self.options([])
        #expect(options.host == "127.0.0.1" && options.port == 8080)
        #expect(options.addressConnectionLimit == 1000 && options.bodyByteLimit == 64 << 20)
        #expect(options.quotas == LedgerServer.Options.standardQuotas && !options.isLogPublic)
        #expect(options.drift?.sample == 1000 && options.publication?.interval == .seconds(300))
        #expect(options.productLoads?.interval == .seconds(21_600) && options.products != nil)
        #expect(options.trust.tls == nil && options.trust.customers == nil)
        #expect(options.logger.logLevel == .notice)
        let reading = try await Self.options(isReadOnly: true, [])
        #expect(reading.publication == nil, "what only reads signs nothing")
        #expect(reading.productLoads == nil && reading.products != nil)
    }

    @Test func `is what is set`() async throws {
        let options = try await Self.options([
            (.host, "::1"), (.port, "0"), (.connections, "7"), (.connectionsPerAddress, "3"),
            (.publicLog, "true"), (.logLevel, "debug"), (.driftSeconds, "60"),
            (.driftSample, "5"), (.auditSeconds, "0"), (.auditFullSeconds, "90"),
            (.checkpointSeconds, "10"), (.limits, "keys=0,customers=5/2"),
        ])
        #expect(options.host == "::1" && options.port == 0 && options.connectionLimit == 7)
        #expect(options.addressConnectionLimit == 3 && options.isLogPublic)
        #expect(options.logger.logLevel == .debug)
        #expect(options.drift?.interval == .seconds(60) && options.drift?.sample == 5)
        #expect(options.audits.quick == nil && options.audits.everything == .seconds(90))
        #expect(options.publication?.interval == .seconds(10))
        #expect(options.quotas[.keys] == nil)
        #expect(options.quotas[.customers] == RateLimitQuota(requests: 5, windowSeconds: 2))
        let never = try await Self.options([
            (.driftSeconds, "0"), (.checkpointSeconds, "0"), (.productSeconds, "0"),
        ])
        #expect(never.drift == nil && never.publication == nil && never.productLoads == nil)
    }

    @Test(arguments: [
        (Setting.port, "65536", "port is not a number in 0...65535"),
        (.connections, "0", "connections is not a number in 1...1000000"),
        (.driftSample, "x", "driftSample is not a number in 1...1000000"),
        (.publicLog, "yes", "publicLog is true or false"), (.logLevel, "loud", "no such log level"),
        (
            .trustedProxies, "10.0.0.0/99",
            "trustedProxies are networks such as 10.0.0.0/8,fd00::/8"
        ),
        (
            .origins, "https://a.example,*",
            "origins are such as https://app.example.com,http://localhost:3000"
        ),
        (.snapshotSeconds, "60", "snapshotSeconds is not a number in 3600...7776000"),
        (
            .stageThresholds, "store:fast",
            "stageThresholds are MILLISECONDS and STAGE:MILLISECONDS, with commas"
        ),
        (.limits, "keys=5", "a limit is NAME=REQUESTS/SECONDS"),
        (.tlsKeyFile, "key.pem", "TLS needs a certificate and its key"),
    ])
    func `is refused with the setting that is not in order`(
        _ setting: Setting,
        _ text: String,
        _ message: String
    ) async throws {
        let fault = await #expect(throws: OperationFault.self) {
            _ = try await Self.options([(setting, text)])
        }
        #expect(fault?.code == .configuration && fault?.message == message)
        #expect(fault?.place?.contains(text) == true)
    }

    @Test func `names the limits that there are`() async {
        let fault = await #expect(throws: OperationFault.self) {
            _ = try await Self.options([(.limits, "everybody=1/1")])
        }
        #expect(fault?.message.hasPrefix("a limit is NAME=REQUESTS/SECONDS, of ") == true)
    }
}
