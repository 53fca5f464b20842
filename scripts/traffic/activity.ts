/**
 * Activity on the network, independent of any sensor's format. Times are epoch milliseconds with a fraction;
 * sensors write microseconds.
 */
export type Transport = 'tcp' | 'udp' | 'icmp';

/** Location of a sensor, which determines its format. */
export type Sensor = 'zeek-core' | 'suricata-guest' | 'suricata-dmz';

/** The true cause of a line. All values except `benign` are from an attack or a sensor's own alarm. */
export type Truth = 'benign' | 'port-scan' | 'ssh-brute-force' | 'beacon' | 'dns-tunnel' | 'sensor-alert';

export interface Flow {
  readonly kind: 'flow';
  readonly start: number;
  readonly durationMs: number;
  readonly src: string;
  readonly srcPort: number;
  readonly dst: string;
  readonly dstPort: number;
  readonly transport: Transport;
  /** Application protocol as Zeek names it (`ssl`, `http`, `dns`, `smb` …). */
  readonly service?: string;
  /** Zeek's conn_state. */
  readonly state: 'SF' | 'S0' | 'REJ' | 'RSTO' | 'RSTR' | 'OTH';
  /** Zeek's history. */
  readonly history: string;
  /** Payload bytes from the source. */
  readonly srcBytes: number;
  /** Payload bytes from the destination. */
  readonly dstBytes: number;
  /** Packets from the source. */
  readonly srcPackets: number;
  /** Packets from the destination. */
  readonly dstPackets: number;
  readonly uid: string;
  /** Suricata's flow_id, below 2^53. */
  readonly flowId: number;
}

export interface Answer {
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'TXT' | 'PTR' | 'SRV';
  readonly ttl: number;
  readonly data: string;
}

/** One question with its answer, and the datagrams that carried them. */
export interface Lookup {
  readonly kind: 'lookup';
  readonly flow: Flow;
  readonly id: number;
  readonly query: string;
  readonly qtype: keyof typeof queryTypes;
  readonly rcode: 'NOERROR' | 'NXDOMAIN' | 'SERVFAIL';
  readonly answers: readonly Answer[];
  readonly rttMs: number;
}

export const queryTypes = { A: 1, PTR: 12, TXT: 16, AAAA: 28, SRV: 33, HTTPS: 65 } as const;

/** A Zeek notice. */
export interface Notice {
  readonly kind: 'notice';
  readonly time: number;
  readonly note: string;
  readonly message: string;
  readonly sub: string;
  readonly src: string;
  readonly dst?: string;
  readonly port?: number;
}

export interface Signature {
  readonly sid: number;
  readonly rev: number;
  readonly text: string;
  readonly category: string;
  /** Severity; 1 is the highest. */
  readonly severity: 1 | 2 | 3 | 4;
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
}

/** A Suricata alert on a flow. */
export interface Alert {
  readonly kind: 'alert';
  readonly time: number;
  readonly signature: Signature;
  readonly flow: Flow;
}

export type Activity = Flow | Lookup | Notice | Alert;

/** Activities that belong together, as one sensor sees them. */
export interface Session {
  readonly sensor: Sensor;
  readonly truth: Truth;
  readonly activities: readonly Activity[];
}

/** A session with the time of its first packet. Nothing in it happens earlier. */
export interface Scheduled extends Session {
  readonly time: number;
}
