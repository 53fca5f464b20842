import { base62, type Random, random } from './random.ts';

/** `[weight, port, proto, service, state, history, median bytes out, median bytes in, median seconds]` */
const mix = [
  [30, 443, 'tcp', 'ssl', 'SF', 'ShADadFf', 1800, 9000, 4],
  [22, 53, 'udp', 'dns', 'SF', 'Dd', 44, 120, 0.02],
  [14, 22, 'tcp', 'ssh', 'SF', 'ShAdDaFf', 2100, 2600, 2],
  [9, 80, 'tcp', 'http', 'SF', 'ShADadfF', 420, 5200, 0.6],
  [8, 0, 'tcp', undefined, 'REJ', 'Sr', 0, 0, 0.001],
  [5, 445, 'tcp', 'gssapi,smb', 'SF', 'ShADadFf', 16_000, 120_000, 40],
  [4, 0, 'tcp', undefined, 'S0', 'S', 0, 0, 3],
  [4, 443, 'udp', 'quic', 'SF', 'Dd', 3200, 24_000, 12],
  [2, 123, 'udp', 'ntp', 'SF', 'Dd', 48, 48, 0.03],
  [2, 25, 'tcp', 'smtp', 'RSTO', 'ShADadR', 24_000, 900, 1.8],
] as const;

/** Draws are by table: a hundred slots, each of which names a row of the mix. */
const slots = mix.flatMap((row) => Array.from({ length: row[0] }, () => row));

/**
 * `count` Zeek conn lines for measurements, as a real sensor writes them: 350 to 410 bytes on average, every line
 * with an identifier of its own, about 15,000 addresses of very unequal weight, ports over the whole range, 300
 * connections a second. Lines carry no line feed. Yields as it goes, so that millions need no memory.
 */
export function* connLines(seed: number, count: number, start = 1_760_000_000_000): Generator<string, void> {
  const rng = random(seed);
  const inside = addresses(rng, 600, () => `10.20.${rng.int(0, 32)}.${rng.int(1, 255)}`);
  const outside = addresses(
    rng,
    14_400,
    () => `198.${rng.int(18, 20)}.${rng.int(0, 256)}.${rng.int(1, 255)}`,
  );
  let micros = start * 1000;
  for (let i = 0; i < count; i++) {
    micros += Math.ceil(rng.exponential(3300));
    yield line(rng, micros, inside[rng.zipf(inside.length)]!, outside[rng.zipf(outside.length)]!);
  }
}

function line(rng: Random, micros: number, home: string, away: string): string {
  const row = slots[rng.int(0, slots.length)] ?? mix[0];
  const [, fixedPort, proto, service, state, history, outMedian, inMedian, secondsMedian] = row;
  const inbound = rng.chance(0.3);
  const port = fixedPort === 0 ? rng.int(1, 65536) : fixedPort;
  const header = proto === 'tcp' ? 40 : 28;
  const sent = outMedian === 0 ? 0 : Math.round(rng.logNormal(outMedian, 0.8));
  const received = inMedian === 0 ? 0 : Math.round(rng.logNormal(inMedian, 1));
  const setUp = proto === 'tcp' ? 3 : 0;
  const sentPackets = Math.max(1, setUp + Math.ceil(sent / 1448));
  const receivedPackets = state === 'S0' ? 0 : Math.max(1, setUp + Math.ceil(received / 1448));
  const duration = rng.logNormal(secondsMedian, 0.9).toFixed(6);
  return (
    `{"ts":${(micros / 1e6).toFixed(6)},"uid":"C${rng.text(17, base62)}",` +
    `"id.orig_h":"${inbound ? away : home}","id.orig_p":${rng.int(32768, 61000)},` +
    `"id.resp_h":"${inbound ? home : away}","id.resp_p":${port},"proto":"${proto}",` +
    `${service === undefined ? '' : `"service":"${service}",`}"duration":${duration},` +
    `"orig_bytes":${sent},"resp_bytes":${received},"conn_state":"${state}",` +
    `"local_orig":${!inbound},"local_resp":${inbound},"missed_bytes":0,"history":"${history}",` +
    `"orig_pkts":${sentPackets},"orig_ip_bytes":${sent + sentPackets * header},` +
    `"resp_pkts":${receivedPackets},"resp_ip_bytes":${received + receivedPackets * header}}`
  );
}

function addresses(rng: Random, count: number, make: () => string): string[] {
  const found = new Set<string>();
  while (found.size < count) found.add(make());
  // Fixed by the set's order of insertion, then mixed, so that neighbours in rank are not neighbours in the network.
  const list = [...found];
  for (let i = list.length - 1; i > 0; i--) {
    const j = rng.int(0, i + 1);
    const kept = list[i]!;
    list[i] = list[j]!;
    list[j] = kept;
  }
  return list;
}
