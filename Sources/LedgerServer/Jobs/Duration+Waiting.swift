import ServiceLifecycle

extension Duration {
    /// Waits so long; false: the server stops.
    func passes() async -> Bool {
        do {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: self) }
            return true
        } catch {
            return false
        }
    }
}
