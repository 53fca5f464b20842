import { Time } from '../../ui/values.tsx';

/** Shows a tree head's timestamp as date and time to the millisecond, and as exact nanoseconds since 1970. */
export function Moment({ ns }: { ns: bigint }) {
  return (
    <span class="moment">
      <Time at={Number(ns / 1_000_000n)} as="exact" /> <span class="quiet mono">{ns.toString()} ns</span>
    </span>
  );
}
