import type { DetectorId } from '../contract/vocabulary.ts';
import type { Config } from './settings.ts';

/** The settings of each part of the service. */

/** Name of the placeholder `%home_networks%` in detection rules. The values of the placeholder are `network.home`. */
export const homePlaceholder = 'home_networks';

/** Returns the settings of TLS; empty for plain HTTP, without a certificate. */
export function tlsSettings(config: Config) {
  const { 'tls.cert': cert, 'tls.key': key, 'tls.client_ca': clientCa } = config;
  if (cert === undefined || key === undefined) return {};
  const clientCertificates = config['tls.client_certificates'];
  return { tls: { cert, key, ...(clientCa === undefined ? {} : { clientCa }), clientCertificates } };
}

/** Returns the settings of the keys of the log: origin, passphrase and ssh-agent. */
export function keySettings(config: Config) {
  const { 'ledger.origin': origin, key_passphrase: keyPassphrase } = config;
  return {
    ...(origin === undefined ? {} : { origin }),
    ...(keyPassphrase === undefined ? {} : { keyPassphrase }),
    agent: agentSettings(config),
  };
}

/** Returns the settings of the ledger's thread. */
export function ledgerSettings(config: Config) {
  return {
    ...keySettings(config),
    detectCopies: config['ledger.detect_copies'],
    rotation: {
      periods: {
        'transparency-sth': config['keys.sth_rotation_ms'],
        'event-signing': config['keys.event_rotation_ms'],
      },
      overlapMs: config['keys.overlap_ms'],
    },
  };
}

/**
 * Returns the settings of the ssh-agent. The settings are included even if new keys are files, because older keys may
 * be in the agent.
 */
export function agentSettings(config: Config) {
  const socket = config['ledger.ssh_agent_socket'] ?? process.env.SSH_AUTH_SOCK;
  return {
    ...(socket === undefined ? {} : { socket }),
    purposes: config['ledger.signer'] === 'ssh-agent' ? config['ledger.ssh_agent_purposes'] : [],
    keys: config['ledger.ssh_agent_keys'],
  };
}

/** Returns the placeholders of detection rules: the home networks, and the operator's lists. */
export function rulePlaceholders(config: Config): ReadonlyMap<string, readonly string[]> {
  const { 'network.home': home, 'detection.placeholders': lists } = config;
  return new Map([...Object.entries(lists), [homePlaceholder, home]]);
}

/** Returns the settings that shape the first access policy. */
export function policyDefaults(config: Config) {
  return {
    metricsNeedRole: config['metrics.require_auth'],
    publicEntries: config['transparency.public_entries'],
  };
}

/** Returns the settings of the store. */
export function storeSettings(config: Config) {
  return {
    dataDir: config.data_dir,
    alertWindowMs: config['alerts.window_ms'],
    home: config['network.home'],
    detectorsOff: config['detection.detectors_off'] as readonly DetectorId[],
  };
}
