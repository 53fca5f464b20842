import {
  bothSent,
  type Counters,
  ecsState,
  handshakeDone,
  isIcmp,
  sensorState,
  suricataState,
  tcpAnswered,
  tcpFlags,
} from '../../../events/connection-state.ts';
import type { Accessor, JsonObject, RecordKind } from '../record.ts';
import { nestedPath } from './paths.ts';

type State = ReturnType<typeof sensorState>;

const eventTypes = nestedPath('event.type');
const serverFlags = nestedPath('tcp.tcp_flags_tc');
const wasReset = nestedPath('tcp.rst');
const wasFinished = nestedPath('tcp.fin');
const ownState: Accessor = (record) => record.state;

/**
 * Reads the state of a connection, with the same values as in Candor's own events for any sensor. Also reads whether
 * the responder answered, with the same logic as detectors.
 *
 * @param read - returns the accessor of a field in records of the kind
 */
export function connectionStateOf(
  kind: RecordKind,
  read: (name: string) => Accessor,
): { readonly state: Accessor; readonly answered: Accessor } {
  const transportOf = read('transport');
  const wordOf = read('conn_state');
  const historyOf = read('history');
  const packets = { src: read('src_packets'), dst: read('dst_packets') };
  const bytes = { src: read('src_bytes'), dst: read('dst_bytes') };
  const payload = { src: read('src_payload_bytes'), dst: read('dst_payload_bytes') };
  const transport = (record: JsonObject) => text(transportOf(record))?.toLowerCase() ?? '';

  const bySensor = (record: JsonObject): State => {
    const word = text(wordOf(record));
    const dst = numeric(packets.dst(record));
    const history = text(historyOf(record));
    if (kind !== 'suricata.flow' || word === undefined) return sensorState(word, transport(record), history, dst);
    const byServer = flags(serverFlags(record));
    const all =
      (flags(history) ?? 0) |
      (byServer ?? 0) |
      (wasReset(record) === true ? tcpFlags.rst : 0) |
      (wasFinished(record) === true ? tcpFlags.fin : 0);
    return suricataState(word, transport(record), dst, { all, byServer });
  };
  const state = (record: JsonObject): State => {
    if (kind === 'candor.network_event') return (ownState(record) as State) ?? bySensor(record);
    if (kind !== 'ecs.connection') return bySensor(record);
    const types = eventTypes(record);
    const [src, dst] = [numeric(packets.src(record)), numeric(packets.dst(record))];
    return ecsState(Array.isArray(types) ? types : [types], bySensor(record), src, dst);
  };
  const answered = (record: JsonObject): boolean => {
    const protocol = transport(record);
    const counters: Counters = {
      src_bytes: numeric(bytes.src(record)) ?? Number.NaN,
      dst_bytes: numeric(bytes.dst(record)) ?? Number.NaN,
      src_payload_bytes: numeric(payload.src(record)) ?? Number.NaN,
      dst_payload_bytes: numeric(payload.dst(record)) ?? Number.NaN,
      src_packets: numeric(packets.src(record)) ?? Number.NaN,
      dst_packets: numeric(packets.dst(record)) ?? Number.NaN,
    };
    if (protocol !== 'tcp') return bothSent(counters, state(record), isIcmp(protocol));
    return tcpAnswered(handshakeDone(text(wordOf(record)) ?? ''), state(record), counters);
  };
  return { state, answered };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function numeric(value: unknown): number | undefined {
  const one = Array.isArray(value) ? value[0] : value;
  return typeof one === 'number' || typeof one === 'string' ? Number(one) : undefined;
}

function flags(value: unknown): number | undefined {
  const bits = Number.parseInt(String(value), 16);
  return Number.isNaN(bits) ? undefined : bits;
}
