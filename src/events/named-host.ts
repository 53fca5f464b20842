/**
 * A host that a client named in a record that is not stored as an event: the server name of a TLS handshake, or
 * the host of an HTTP request. The host is compared with intelligence lists when the batch of the record is
 * committed. Plain data.
 */
export interface NamedHost {
  readonly part: 'server_name' | 'http_host';
  /** A name or an address, as the client wrote it. */
  readonly value: string;
  /** Event time, epoch milliseconds. */
  readonly timestamp: number;
  readonly src_ip: string;
  readonly dst_ip: string;
  readonly dst_port?: number;
  readonly transport: string;
  readonly direction: 'inbound' | 'outbound' | 'internal' | 'external';
  readonly answered: boolean;
  /** The principal that sent the record. */
  readonly sensor?: string;
}
