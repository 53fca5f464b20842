import { omitUndefined } from '../database/omit-undefined.ts';
import { limits } from '../limits.ts';
import { addressBytes, printAddress } from '../net/ip.ts';
import { safeHostName, safeText } from './safe-text.ts';
import type { FoundHost, FoundService } from './scanner.ts';
import { XmlReader } from './xml.ts';

/** Receives the results of an nmap run. */
interface NmapNews {
  /** Receives a host that is up, and the number of its open ports beyond the limit. */
  host(host: FoundHost, skipped: number): void;
  /** Called after each scanned host, up or down. */
  hostDone(): void;
}

interface OpenPort {
  port: number;
  open: boolean;
  refused: boolean;
  name: string | undefined;
  product: string | undefined;
  version: string | undefined;
  tls: boolean;
}

interface OpenHost {
  up: boolean;
  ip: string | undefined;
  mac: string | undefined;
  os: string | undefined;
  osAccuracy: number;
  readonly hostnames: Set<string>;
  readonly services: FoundService[];
  readonly closed: number[];
  port: OpenPort | undefined;
  skipped: number;
}

const maxNameLength = 60;
const maxTextLength = 100;
const maxHostNames = 4;
/** Minimum accuracy of an operating system guess, in percent as reported by nmap. */
const minOsAccuracy = 85;

type Attributes = Readonly<Record<string, string>>;

/**
 * Parses nmap's XML output (nmap.dtd 1.05) incrementally: state, addresses, names, TCP ports and operating system of
 * each host. Unknown elements are ignored; invalid XML is an error.
 */
export class NmapReport {
  readonly #news: NmapNews;
  readonly #now: () => number;
  readonly #xml: XmlReader;
  #host: OpenHost | undefined;
  /** State of the ports that are listed together. */
  #others: string | undefined;
  /** Exit status in the report. */
  exit: { readonly success: boolean; readonly message: string | undefined } | undefined;

  constructor(news: NmapNews, now: () => number) {
    this.#news = news;
    this.#now = now;
    this.#xml = new XmlReader({
      open: (name, attributes) => this.#opened[name]?.(attributes),
      close: (name) => this.#closed[name]?.(),
    });
  }

  /** Parses the next part of the report. @throws XmlError */
  push(text: string): void {
    this.#xml.push(text);
  }

  /** Ends the report. @throws XmlError if it is incomplete. */
  end(): void {
    this.#xml.end();
  }

  readonly #opened: Readonly<Record<string, (attributes: Attributes) => void>> = {
    __proto__: null as never,
    host: () => {
      this.#host = {
        ...{
          up: false,
          ip: undefined,
          mac: undefined,
          os: undefined,
          osAccuracy: 0,
          port: undefined,
          skipped: 0,
        },
        ...{ hostnames: new Set(), services: [], closed: [] },
      };
    },
    status: (attributes) => {
      if (this.#host !== undefined) this.#host.up = attributes.state === 'up';
    },
    address: (attributes) => this.#address(attributes),
    hostname: (attributes) => {
      const name = safeHostName(attributes.name ?? '');
      // The type `user` is the target as entered, not a discovered name.
      if (name !== undefined && attributes.type === 'PTR' && (this.#host?.hostnames.size ?? 0) < maxHostNames)
        this.#host?.hostnames.add(name);
    },
    extraports: (attributes) => {
      this.#others = attributes.state;
    },
    extrareasons: (attributes) => this.#otherPorts(attributes),
    port: (attributes) => this.#port(attributes),
    state: (attributes) => {
      const port = this.#host?.port;
      if (port === undefined) return;
      port.open = attributes.state === 'open';
      port.refused = attributes.state === 'closed';
    },
    service: (attributes) => this.#service(attributes),
    osmatch: (attributes) => this.#system(attributes),
    finished: (attributes) => {
      const message = attributes.errormsg;
      this.exit = {
        success: attributes.exit === 'success',
        message: message === undefined ? undefined : safeText(message, 200),
      };
    },
  };

  readonly #closed: Readonly<Record<string, () => void>> = {
    __proto__: null as never,
    port: () => this.#portDone(),
    host: () => this.#hostDone(),
  };

  #address(attributes: Attributes): void {
    const host = this.#host;
    if (host === undefined) return;
    const text = attributes.addr ?? '';
    if (attributes.addrtype === 'mac') {
      host.mac = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(text) ? text.toLowerCase() : undefined;
      return;
    }
    const bytes = addressBytes(text);
    host.ip ??= bytes === undefined ? undefined : printAddress(bytes);
  }

  /**
   * Reads ports that nmap lists together because they have the same state; newer versions of nmap include
   * their numbers.
   */
  #otherPorts(attributes: Attributes): void {
    const ports = attributes.ports ?? '';
    const isList = /^\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*$/.test(ports);
    if (this.#host === undefined || this.#others !== 'closed' || attributes.proto !== 'tcp' || !isList) return;
    for (const range of ports.split(',')) {
      const [first = 0, last = first] = range.split('-').map(Number);
      for (let port = first; port <= last && port <= 65_535; port++) addClosed(this.#host, port);
    }
  }

  #port(attributes: Attributes): void {
    const port = Number(attributes.portid);
    if (this.#host === undefined || attributes.protocol !== 'tcp') return;
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return;
    this.#host.port = {
      ...{ port, open: false, refused: false, tls: false },
      ...{ name: undefined, product: undefined, version: undefined },
    };
  }

  /** Reads a service, if nmap probed it: `method="table"` means only the usual service of the port. */
  #service(attributes: Attributes): void {
    const port = this.#host?.port;
    if (port === undefined || attributes.method !== 'probed') return;
    const text = (name: string, length: number) => safeText(attributes[name] ?? '', length);
    port.tls = attributes.tunnel === 'ssl';
    port.name = text('name', maxNameLength)?.toLowerCase();
    port.product = text('product', maxTextLength);
    port.version = text('version', maxTextLength);
  }

  #system(attributes: Attributes): void {
    const accuracy = Number(attributes.accuracy);
    if (this.#host === undefined || !(accuracy >= minOsAccuracy) || accuracy <= this.#host.osAccuracy) return;
    this.#host.osAccuracy = accuracy;
    this.#host.os = safeText(attributes.name ?? '', maxTextLength);
  }

  #portDone(): void {
    const host = this.#host;
    const port = host?.port;
    if (host === undefined || port === undefined) return;
    host.port = undefined;
    if (port.refused) addClosed(host, port.port);
    if (!port.open) return;
    if (host.services.length >= limits.maxScanServicesPerHost) {
      host.skipped++;
      return;
    }
    const { product, version } = port;
    const name = port.name !== undefined && port.tls ? (overTls[port.name] ?? port.name) : port.name;
    host.services.push({ port: port.port, transport: 'tcp', ...omitUndefined({ name, product, version }) });
  }

  #hostDone(): void {
    const host = this.#host;
    this.#host = undefined;
    if (host === undefined) return;
    this.#news.hostDone();
    if (!host.up || host.ip === undefined) return;
    const found: FoundHost = {
      ip: host.ip,
      at: this.#now(),
      hostnames: [...host.hostnames],
      ...omitUndefined({ mac: host.mac, os: host.os }),
      services: host.services,
      closed: Uint16Array.from(host.closed),
    };
    this.#news.host(found, host.skipped);
  }
}

function addClosed(host: OpenHost, port: number): void {
  if (port > 0 && host.closed.length < 65_535) host.closed.push(port);
}

/** Names of protocols over TLS, by the name that nmap reports with tunnel="ssl". */
const overTls: Readonly<Record<string, string>> = {
  __proto__: null as never,
  http: 'https',
  smtp: 'smtps',
  imap: 'imaps',
  pop3: 'pop3s',
  ftp: 'ftps',
  ssl: 'tls',
};
