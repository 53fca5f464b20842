import { hostName } from '../events/host-name.ts';
import { text } from './fields.ts';

/** A field that names a host. Undefined where there is none, or what is there names no host. */
export function hostNameField(value: unknown, field: string): string | undefined {
  const name = text(value, field);
  return name === undefined ? undefined : hostName(name);
}

/** Whether a certificate names the host: by the common name of its subject, or an alternative name; `*` is one label. */
export function inCertificate(host: string, subject: unknown, alternatives?: unknown): boolean {
  const common =
    typeof subject === 'string' ? /(?:^|[,/]\s*)CN=([^,/]{1,255})/i.exec(subject)?.[1] : undefined;
  const names = [common, ...(Array.isArray(alternatives) ? alternatives : [])];
  const above = host.replace(/^[^.]+/, '*');
  return names.some((name) => {
    if (typeof name !== 'string') return false;
    const plain = name.trim().toLowerCase();
    return plain === host || (plain === above && above.split('.').length > 2);
  });
}

/** Through an explicit proxy (CONNECT, SOCKS) a client sees certificates of other servers. */
export const isProxyPort = (port: unknown): boolean => proxyPorts.has(port);
const proxyPorts: ReadonlySet<unknown> = new Set([1080, 3128, 8000, 8080, 8081, 8118, 8888, 9050, 9090]);
