import { openAlertStatuses } from '../../../contract/vocabulary.ts';
import { href } from '../../state/address.ts';
import { number } from '../../ui/format.ts';
import { Severity } from '../../ui/severity.tsx';
import { shownTime } from '../../ui/value.tsx';
import { type Alerted, leastMarked } from './alerted.ts';
import type { Edge } from './arrange.ts';

/** The gravest of the open alerts between the ends of an edge, and how many there are; leads to them. */
export function AlertedMark({ edge, alerted }: { edge: Edge; alerted: Alerted | undefined }) {
  if (alerted === undefined) return null;
  const { count, severity, forth, back } = alerted;
  const told = `open ${count === 1 ? 'alert' : 'alerts'} between ${edge.source} and ${edge.target}`;
  const ends = [edge.source, edge.target];
  const filters = {
    src_ip: back ? (forth ? ends : edge.target) : edge.source,
    dst_ip: back ? (forth ? ends : edge.source) : edge.target,
    status: openAlertStatuses,
    min_severity: leastMarked,
  };
  return (
    <a class="alerted-mark" href={href('alerts', { ...shownTime(), ...filters })} title={told}>
      <Severity level={severity} short /> {number(count)}
      <span class="unseen"> {told}</span>
    </a>
  );
}
