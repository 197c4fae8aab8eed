"""Each row divided by its root mean square, times a weight."""


def _row_norm_kernel(row, weight, eps):
    total = 0.0
    for value in row:
        square = value * value
        total = total + square
    mean = total / len(row)
    result = []
    for column in range(len(row)):
        scaled = row[column] / (mean + eps) ** 0.5
        result.append(scaled * weight[column])
    return result


def row_norm(rows, weight, eps=1e-6):
    return [_row_norm_kernel(row, weight, eps) for row in rows]
