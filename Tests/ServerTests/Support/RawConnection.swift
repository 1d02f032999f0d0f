import HummingbirdTesting
import NIOCore
import NIOPosix
import Synchronization

/// A connection whose bytes a test writes and reads itself.
struct RawConnection: Sendable {
    private let channel: any Channel
    private let received: Received

    /// What came in.
    private final class Received: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let bytes = Mutex<[UInt8]>([])

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            bytes.withLock { $0.append(contentsOf: buffer.readableBytesView) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }

    /// Connects to a live server.
    ///
    /// `reads`: whether what comes in is taken.
    init(to server: TestServer, reads: Bool = true) async throws {
        try await self.init(to: "localhost", server.client.port ?? 0, reads: reads)
    }

    /// Connects to an address.
    init(to host: String, _ port: Int, reads: Bool = true) async throws {
        let received = Received()
        self.received = received
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: reads)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(received)
                }
            }
            .connect(host: host, port: port).get()
    }

    var isOpen: Bool { channel.isActive }

    var text: String { received.bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    /// Sends bytes; whether they arrive shows in what comes back.
    func write(_ bytes: some Sequence<UInt8>) {
        channel.writeAndFlush(ByteBuffer(bytes: Array(bytes)), promise: nil)
    }

    func write(_ text: String) { write(text.utf8) }

    /// Sends no more, and reads on.
    func end() { channel.close(mode: .output, promise: nil) }

    func close() { channel.close(promise: nil) }

    /// Waits until something came in.
    func wait(for text: String) async throws {
        while !self.text.contains(text), isOpen { try await Task.sleep(for: Self.pause) }
    }

    /// Sends one byte after the other, so that the connection is lively, until it is cut.
    func drip(_ byte: Character) async throws {
        while isOpen {
            write(String(byte))
            try await Task.sleep(for: Self.pause)
        }
    }

    private static let pause = Duration.milliseconds(20)
}
