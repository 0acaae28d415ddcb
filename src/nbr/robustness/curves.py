"""Curves of accuracy against the size of changes, with their 95% bands, as an SVG that needs nothing else."""

from __future__ import annotations

import math

WIDE, HIGH, LEFT, BELOW = 640, 360, 50, 46
COLOURS = ["#1b6ca8", "#d1495b", "#3f7d20", "#8d6a9f", "#e0a100", "#12908e", "#7a4b2a", "#d66ba0", "#666666", "#111111"]
MOST_BANDS = 4  # more would hide each other


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95% interval of a share."""
    z = 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def picture(title: str, radii: list[float], rows: dict[str, list[float]], count: int) -> str:
    """One line for each classifier: the share of images at each radius."""
    across, up = WIDE - LEFT - 20, HIGH - BELOW - 40
    furthest = max(radii)

    def at(radius: float, share: float) -> str:
        return f"{LEFT + across * radius / furthest:.1f},{40 + up * (1 - share):.1f}"

    parts = [f'<text x="{LEFT}" y="22" font-size="14">{title}</text>']
    for tenth in range(0, 11, 2):
        x, y = at(0, tenth / 10).split(",")
        parts.append(f'<line x1="{x}" x2="{LEFT + across}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{float(y) + 4}" text-anchor="end">{10 * tenth}%</text>')
    for radius in range(int(furthest) + 1):
        x, y = at(radius, 0).split(",")
        parts.append(f'<text x="{x}" y="{float(y) + 18}" text-anchor="middle">{radius}</text>')
    parts.append(f'<text x="{LEFT + across / 2}" y="{HIGH - 8}" text-anchor="middle">L2 radius</text>')
    for number, (name, shares) in enumerate(rows.items()):
        colour = COLOURS[number % len(COLOURS)]
        if len(rows) <= MOST_BANDS:
            bands = [wilson(share, count) for share in shares]
            outline = [at(r, low) for r, (low, _) in zip(radii, bands, strict=True)]
            outline += [at(r, high) for r, (_, high) in reversed(list(zip(radii, bands, strict=True)))]
            parts.append(f'<polygon points="{" ".join(outline)}" fill="{colour}" opacity="0.15"/>')
        line = " ".join(at(r, share) for r, share in zip(radii, shares, strict=True))
        dash = ' stroke-dasharray="6 3"' if number else ""
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        level = 60 + 18 * number
        place = f'x1="{WIDE - 210}" x2="{WIDE - 185}" y1="{level}" y2="{level}"'
        parts.append(f'<line {place} stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append(f'<text x="{WIDE - 178}" y="{level + 4}">{name}</text>')
    body = "".join(parts)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" font-family="sans-serif" font-size="12">'
    )
    return f'{head}<rect width="{WIDE}" height="{HIGH}" fill="white"/>{body}</svg>\n'
