import { hostName } from '../net/host-name.ts';
import { text } from './fields.ts';

/** Reads a host name. Returns undefined if the value is missing or not a host name. */
export function hostNameField(value: unknown, field: string): string | undefined {
  const name = text(value, field);
  return name === undefined ? undefined : hostName(name);
}

/**
 * Returns whether a certificate covers the host, by the common name of its subject or an alternative name;
 * `*` is one label.
 */
export function inCertificate(host: string, subject: unknown, alternatives?: unknown): boolean {
  const common = typeof subject === 'string' ? /(?:^|[,/]\s*)CN=([^,/]{1,255})/i.exec(subject)?.[1] : undefined;
  const names = [common, ...(Array.isArray(alternatives) ? alternatives : [])];
  const above = host.replace(/^[^.]+/, '*');
  return names.some((name) => {
    if (typeof name !== 'string') return false;
    const plain = name.trim().toLowerCase();
    return plain === host || (plain === above && above.split('.').length > 2);
  });
}

/**
 * Returns whether a port is a proxy port. Clients of an explicit proxy (CONNECT, SOCKS) receive certificates of
 * other servers through the proxy.
 */
export const isProxyPort = (port: unknown): boolean => proxyPorts.has(port);
const proxyPorts: ReadonlySet<unknown> = new Set([1080, 3128, 8000, 8080, 8081, 8118, 8888, 9050, 9090]);
