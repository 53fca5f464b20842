import { compact, number } from '../../ui/format.ts';
import type { Leaves } from './audit-path.ts';
import type { Block } from './tree-layout.ts';

/** Hatching for broken nodes, because colour alone is not accessible. */
export function Hatch({ id }: { id: string }) {
  return (
    <defs>
      <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="5" height="5" class="tree-hatch-ground" />
        <line x1="0" y1="0" x2="0" y2="5" class="tree-hatch" />
      </pattern>
    </defs>
  );
}

/** Describes a range of leaves: `leaves 32 to 47 (16)`, `leaf 5`. */
export const spokenLeaves = ({ from, to }: Leaves): string =>
  to - from === 1 ? `leaf ${number(from)}` : `leaves ${number(from)} to ${number(to - 1)} (${number(to - from)})`;

/** Describes a range of leaves briefly: `16 leaves`, `leaf 5`. */
export const countedLeaves = ({ from, to }: Leaves): string =>
  to - from === 1 ? `leaf ${number(from)}` : `${number(to - from)} leaves`;

/** A collapsed subtree: a triangle with its number of leaves, or a square for a single leaf. */
export function TreeBlock({
  block,
  baseline,
  class: className,
  fill,
}: {
  block: Block;
  baseline: number;
  class: string;
  fill?: string;
}) {
  const { from, to, x, y, left, right } = block;
  const leaves = to - from;
  const room = right - left;
  const gap = Math.min(4, room / 8);
  const text = compact(leaves);
  return (
    <>
      {leaves === 1 ? (
        <rect
          class={`tree-block ${className}`}
          x={x - 5}
          y={baseline - 5}
          width={10}
          height={10}
          {...(fill !== undefined && { fill })}
        />
      ) : (
        <polygon
          class={`tree-block ${className}`}
          points={`${x},${y} ${left + gap},${baseline + 4} ${right - gap},${baseline + 4}`}
          {...(fill !== undefined && { fill })}
        />
      )}
      {room > text.length * 7 && (
        <text class="tree-count" x={x} y={baseline + 18} text-anchor="middle">
          {text}
        </text>
      )}
    </>
  );
}
