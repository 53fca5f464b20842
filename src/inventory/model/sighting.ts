/** Sources of names, the most trusted first. */
export const nameSources = ['dhcp', 'mdns', 'dns', 'tls'] as const;
export type NameSource = (typeof nameSources)[number];

/**
 * A fact about a home host from a record that is not an event. Addresses are canonical text, MAC addresses
 * lowercase with colons, times epoch milliseconds, names lower case without a final dot.
 */
export type Sighting = { readonly at: number } & (
  | { readonly kind: 'host'; readonly ip?: string; readonly mac?: string }
  | {
      readonly kind: 'name';
      readonly ip?: string;
      readonly mac?: string;
      readonly name: string;
      readonly from: NameSource;
      /** Hosts that used the name, at most `limits.maxClientsPerName`. */
      readonly clients?: readonly string[];
    }
  | {
      readonly kind: 'service';
      readonly ip: string;
      readonly port: number;
      readonly transport: string;
      readonly name?: string;
      readonly product?: string;
      readonly version?: string;
    }
  | { readonly kind: 'system'; readonly ip: string; readonly os: string }
  /** The host opened a tunnel for a client, so clients see certificates of other servers at this host. */
  | { readonly kind: 'proxy'; readonly ip: string }
);
