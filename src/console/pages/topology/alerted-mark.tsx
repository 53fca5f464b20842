import { href } from '../../state/address.ts';
import { number } from '../../ui/format.ts';
import { Severity } from '../../ui/severity.tsx';
import { shownTime } from '../../ui/value.tsx';
import type { Alerted } from './alerted.ts';
import type { Edge } from './arrange.ts';

/** The gravest of the open alerts between the ends of an edge, and how many there are; leads to them. */
export function AlertedMark({ edge, alerted }: { edge: Edge; alerted: Alerted | undefined }) {
  if (alerted === undefined) return null;
  const ends = [edge.source, edge.target];
  return (
    <a
      href={href('alerts', { ...shownTime(), src_ip: ends, dst_ip: ends })}
      title={`${number(alerted.count)} open ${alerted.count === 1 ? 'alert' : 'alerts'} between them`}
    >
      <Severity level={alerted.severity} short /> {alerted.count > 1 && number(alerted.count)}
    </a>
  );
}
