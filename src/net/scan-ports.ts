import { invalidField } from '../errors.ts';

/**
 * The hundred TCP ports that are most often open on the Internet and in company networks, by the frequencies
 * in the file nmap-services of the Nmap project.
 */
const top100 =
  '7,9,13,21-23,25-26,37,53,79-81,88,106,110-111,113,119,135,139,143-144,179,199,389,427,443-445,465,513-515,' +
  '543-544,548,554,587,631,646,873,990,993,995,1025-1029,1110,1433,1720,1723,1755,1900,2000-2001,2049,2121,2717,' +
  '3000,3128,3306,3389,3986,4899,5000,5009,5051,5060,5101,5190,5357,5432,5631,5666,5800,5900,6000-6001,6646,7070,' +
  '8000,8008-8009,8080-8081,8443,8888,9100,9999-10000,32768,49152-49157';

const named: Readonly<Record<string, string>> = { top100 };

/**
 * Parses comma-separated ports and ranges (`22,80,8000-8100`), which may include `top100`. Returns distinct
 * ports in ascending order.
 *
 * @throws INVALID_REQUEST naming `ports`.
 */
export function parsePorts(text: string): number[] {
  const ports = new Set<number>();
  for (const part of text.split(',').map((one) => one.trim())) {
    const list = Object.hasOwn(named, part) ? named[part] : undefined;
    if (list !== undefined) for (const port of parsePorts(list)) ports.add(port);
    else addRange(part, ports);
  }
  return [...ports].sort((a, b) => a - b);
}

/** Prints ascending ports as the shortest text that `parsePorts` accepts. */
export function printPorts(ports: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < ports.length; i++) {
    const start = ports[i]!;
    while (ports[i + 1] === ports[i]! + 1) i++;
    parts.push(start === ports[i] ? String(start) : `${start}-${ports[i]}`);
  }
  return parts.join(',');
}

function addRange(part: string, ports: Set<number>): void {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
  if (match === null)
    throw invalidField(
      'ports',
      part === ''
        ? 'contains an empty item: remove the extra comma'
        : `contains ${JSON.stringify(part.slice(0, 20).toWellFormed())}; expected ports and ranges such as 22,80,8000-8100, or top100`,
    );
  const first = Number(match[1]);
  const last = Number(match[2] ?? first);
  if (first < 1 || last > 65_535) throw invalidField('ports', `contains ${part}; expected ports from 1 to 65535`);
  if (first > last) throw invalidField('ports', `contains ${part}; expected the lower port first`);
  for (let port = first; port <= last; port++) ports.add(port);
}
