import type { Config } from './settings.ts';

/** The settings of parts of the service, as these take them. */

/** Plain HTTP without a certificate. */
export function tlsSettings(config: Config) {
  const { 'tls.cert': cert, 'tls.key': key, 'tls.client_ca': clientCa } = config;
  if (cert === undefined || key === undefined) return {};
  const clientCertificates = config['tls.client_certificates'];
  return { tls: { cert, key, ...(clientCa === undefined ? {} : { clientCa }), clientCertificates } };
}

/** What the ledger's thread needs to know of keys. */
export function keySettings(config: Config) {
  const { 'ledger.origin': origin, key_passphrase: keyPassphrase } = config;
  return {
    ...(origin === undefined ? {} : { origin }),
    ...(keyPassphrase === undefined ? {} : { keyPassphrase }),
    rotation: {
      periods: {
        'transparency-sth': config['keys.sth_rotation_ms'],
        'event-signing': config['keys.event_rotation_ms'],
      },
      overlapMs: config['keys.overlap_ms'],
    },
  };
}

/** What shapes the first access policy. */
export function policyDefaults(config: Config) {
  return {
    metricsNeedRole: config['metrics.require_auth'],
    publicEntries: config['transparency.public_entries'],
  };
}
