import EntitlementLedger
import EventLog
import Foundation
import HTTPTypes
import Hummingbird
import LedgerOperations
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import Testing

@testable import LedgerServer

/// A receiver of webhooks on this machine, that answers as a test says.
final class WebhookReceiver: Sendable {
    private let received = Mutex<[Message]>([])
    private let status: @Sendable (Message) async throws -> HTTPResponse.Status

    /// What came.
    struct Message: Sendable {
        var id: String
        var timestamp: String
        var signatures: String
        var isResent: Bool
        var body: String
    }

    private init(
        _ status: @escaping @Sendable (Message) async throws -> HTTPResponse.Status
    ) {
        self.status = status
    }

    var messages: [Message] { received.withLock(\.self) }

    /// Lends a receiver and its address.
    static func with(
        _ status: @escaping @Sendable (Message) async throws -> HTTPResponse.Status = { _ in
            .noContent
        },
        _ body: @escaping @Sendable (WebhookReceiver, _ url: String) async throws -> Void
    ) async throws {
        let receiver = WebhookReceiver(status)
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            responder: CallbackResponder { (request: Request, _: BasicRequestContext) in
                try await receiver.answer(request)
            },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { found.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "receiver") { _ in SwiftLogNoOpLogHandler() }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            for await port in ports.prefix(1) {
                try await body(receiver, "http://127.0.0.1:\(port)/hooks")
            }
            group.cancelAll()
            // Whoever is cancelled says so.
            try? await group.waitForAll()
        }
    }

    private func answer(_ request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 20)
        func header(_ name: String) -> String {
            HTTPField.Name(name).flatMap { request.headers[$0] } ?? ""
        }
        let message = Message(
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signatures: header("webhook-signature"),
            isResent: header("ledger-resent") == "true",
            body: String(buffer: body)
        )
        let status = try await status(message)
        if status.kind == .successful { received.withLock { $0.append(message) } }
        var response = Response(status: status)
        if status.kind == .redirection { response.headers[.location] = "/elsewhere" }
        return response
    }

    /// Waits until so many messages were taken, or a while is over.
    func messages(count: Int) async throws -> [Message] {
        for _ in 0..<1200 where messages.count < count {
            try await Task.sleep(for: .milliseconds(25))
        }
        return messages
    }
}

/// A server that tells webhooks of what happens.
enum WebhookWorld {
    /// Lends a server whose webhooks may be on this machine; they are told while the body runs.
    ///
    /// `journal`: where machines hold them in common, none of which leads; nil: nowhere. `witness`: of its
    /// clock. `isTelling`: false: they are told nothing but what the body sends.
    static func with(
        tellsOfPrivate isPrivate: Bool = true,
        sharedIn journal: (any ClusterDeliveries)? = nil,
        witness: ClockWitness = .trusting,
        isTelling: Bool = true,
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "webhooks-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var setup = TestServer.Setup()
        setup.witness = witness
        setup.adjust = { options in
            options.webhooks = try? Webhooks(in: folder, options.ledger, sharedIn: journal)
            options.sendsToPrivateNetworks = isPrivate
        }
        try await TestServer.with(setup) { server in
            let webhooks = try #require(server.service.webhooks)
            defer { webhooks.close() }
            try server.publishCatalog()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.service.growth.run() }
                if isTelling {
                    group.addTask {
                        try await WebhookSender(service: server.service, webhooks: webhooks).run()
                    }
                }
                try await body(server)
                group.cancelAll()
                // Whoever is cancelled says so.
                try? await group.waitForAll()
            }
        }
    }
}
